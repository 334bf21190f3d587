#pragma once

#include <loom/launch.h>
#include <loom/plan.h>
#include <loom/result.h>

namespace landlock {

// The name of the inner stage, below libexec/loom-exec.
inline constexpr const char* kStage2 = "landlock-stage2";

[[nodiscard]] loom::Result<loom::LaunchSpec> render(const loom::JailPlan& plan);

}  // namespace landlock
