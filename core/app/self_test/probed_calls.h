#pragma once

#include <vector>

#include "app/self_test/privilege_verdicts.h"

namespace loom::app {

// System calls that a jail refuses and that need no privilege to be tried: each is given arguments
// that a kernel without a filter answers with another errno, or carries out without harm.
[[nodiscard]] std::vector<RefusedCall> probed_calls();

// --probe-calls: tries each and prints "call NAME ERRNO", in order, then kCallsDone. 0.
[[nodiscard]] int probe_calls();

}  // namespace loom::app
