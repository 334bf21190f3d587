#pragma once

#include <loom/plan.h>
#include <loom/result.h>

namespace loom::bwrap {

// Decides one run, or refuses and names the thing. Without bubblewrap the view is empty and stage 2
// runs with everything it has.
[[nodiscard]] Result<JailPlan> plan(const PlanRequest& request);

}  // namespace loom::bwrap
