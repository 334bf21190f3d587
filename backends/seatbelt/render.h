#pragma once

#include <loom/launch.h>
#include <loom/plan.h>
#include <loom/result.h>

namespace loom::seatbelt {

[[nodiscard]] Result<LaunchSpec> render(const JailPlan& plan);

}  // namespace loom::seatbelt
