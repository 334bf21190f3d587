#pragma once

#include <loom/stage2_control.h>

#include "failure.h"

namespace loom::bwrap {

// Default signals, an empty mask, and nothing but descriptors 0 to 2 open across an exec; the
// others stay usable until then.
[[nodiscard]] StepResult<void> shed_inheritance();

// Becomes the command: its directory, exactly its environment. After shed_inheritance.
// Returns only when that did not work, and says how: kDirectory, kLookup (there is no such program)
// or kExecute (there is one, and the kernel refused it).
//
// argv[0] with a slash is used as it is; otherwise PATH of the command's own environment is
// searched the way execvp does, without its fallback to a shell.
[[nodiscard]] Failure run_command(CommitDocument document);

}  // namespace loom::bwrap
