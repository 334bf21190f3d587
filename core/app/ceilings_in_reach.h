#pragma once

#include <loom/policy.h>
#include <loom/result.h>

namespace loom::app {

// Refuses, naming the region, a policy with a memory or process ceiling that also lets the command
// write where control groups are: it could lift its own ceilings. Reads this process's mount table.
[[nodiscard]] Result<void> refuse_ceilings_in_reach(const Policy& policy);

}  // namespace loom::app
