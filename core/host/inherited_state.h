#pragma once

#include <loom/bytes.h>
#include <loom/result.h>

namespace loom::host {

// What a child gets from this process at the fork and keeps: control groups, resource limits,
// processors, priority, how soon it is ended when memory is short. Anybody may change that from
// outside, and a child that was forked before would not have it. And how the machine dumps cores,
// which stage 2 looks at once. For comparison
// only; nothing where no jail waits.
[[nodiscard]] Result<Bytes> inherited_state();

}  // namespace loom::host
