#pragma once

#include <loom/stage2_control.h>

#include "failure.h"

namespace loom::bwrap {

// Becomes the command: its directory, default signals, descriptors 0 to 2, exactly its environment.
// Returns only when that did not work, and says how: kDirectory, kLookup (there is no such program)
// or kExecute (there is one, and the kernel refused it).
//
// argv[0] with a slash is used as it is; otherwise PATH of the command's own environment is
// searched the way execvp does, without its fallback to a shell.
[[nodiscard]] Failure run_command(CommitDocument document);

}  // namespace loom::bwrap
