#pragma once

#include <loom/plan.h>
#include <loom/result.h>

namespace landlock {

// Decides everything: what is refused, and otherwise what the inner stage has to put in force.
[[nodiscard]] loom::Result<loom::JailPlan> plan(const loom::PlanRequest& request);

}  // namespace landlock
