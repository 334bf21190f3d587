#pragma once

#include <loom/result.h>
#include <sys/types.h>

namespace loom::host {

// Asks the kernel to move `child`, with all its threads, into the group behind `directory`. A
// source of its own: the one write that makes a ceiling hold is what a sabotaged build leaves out.
[[nodiscard]] Result<void> enter_control_group(int directory, pid_t child);

}  // namespace loom::host
