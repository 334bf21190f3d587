#pragma once

#include <loom/plan.h>

#include <vector>

#include "resolve.h"

namespace loom::bwrap {

// The mount operations in the order bubblewrap applies them: grants, then masks, then explicit
// mounts; inside a phase by region, a parent before what lies under it. The order of the policy's
// lists has no influence. Decides nothing about refusals: see refuse.h.
[[nodiscard]] std::vector<MountOperation> build_view(const ResolvedPolicy& policy);

}  // namespace loom::bwrap
