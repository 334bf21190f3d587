#pragma once

#include "guard/open_without_links.h"
#include "guard/walk_calls.h"

namespace loom::guard {

// open_without_links where no system call does it in one step. EACCES also for what the system
// gives no handle of (LookedUp::handle).
[[nodiscard]] Opened open_by_walk(const AbsolutePath& path, int flags, const WalkCalls& calls);

}  // namespace loom::guard
