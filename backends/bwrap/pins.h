#pragma once

#include <loom/plan.h>

#include <vector>

#include "resolve.h"

namespace loom::bwrap {

// Adds the pins to a view (D11): a command must not move, remove or exchange a directory above a
// mask, a readable root or a read-only mount, and build the name anew. So every such directory that
// the command could write becomes a mount point, by a bind of itself, right after the operation
// that shows it and before everything below it. One that is the region of the operation that shows
// it is a mount point already.
//
// A directory that is not there yet (JailPlan::to_make) is pinned with an identity of zero.
[[nodiscard]] std::vector<MountOperation> with_pins(const ResolvedPolicy& policy,
                                                    std::vector<MountOperation> view);

}  // namespace loom::bwrap
