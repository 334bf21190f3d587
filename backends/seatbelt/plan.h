#pragma once

#include <loom/plan.h>
#include <loom/result.h>

namespace loom::seatbelt {

// Decides one run, or refuses and names the thing.
[[nodiscard]] Result<JailPlan> plan(const PlanRequest& request);

}  // namespace loom::seatbelt
