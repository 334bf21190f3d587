#pragma once

#include <loom/features.h>
#include <loom/plan.h>
#include <loom/result.h>

#include "kernel_facts.h"
#include "places.h"

// What this backend does not hold is refused here, by name. Landlock adds: a rule opens a directory
// with all that is in it, and none closes a part of it again.
namespace landlock {

// What is wrong with the request whatever the paths are: no command, a version-3 policy, a proxy,
// kept capabilities, and a kernel or an installation without what it takes.
[[nodiscard]] loom::Result<void> refuse_request(const loom::PlanRequest& request,
                                                const KernelFacts& kernel);

// What is absent, and must not be.
[[nodiscard]] loom::Result<void> refuse_missing(const Places& places);

// What would need a rule that takes rights away: a protected path inside of what is granted,
// reading inside of what may be written; what would open the machine's devices or processes; and
// names that the command could exchange.
[[nodiscard]] loom::Result<void> refuse_unholdable(const Places& places,
                                                   const std::vector<loom::MountFact>& mounts);

}  // namespace landlock
