#pragma once

#include <loom/stage2_control.h>

#include <cstdint>

#include "control.h"
#include "failure.h"

namespace loom::bwrap {

// Default signals, an empty mask, and nothing but descriptors 0 to 2 open across an exec; the
// others stay usable until then.
[[nodiscard]] StepResult<void> shed_inheritance();

// Becomes the command: its directory, its exec rules, exactly its environment. After
// shed_inheritance. Returns only when that did not work, and says how: kDirectory, kLookup (there
// is no such program) or kExecute (there is one, and the kernel refused it).
//
// argv[0] with a slash is used as it is; otherwise PATH of the command's own environment is
// searched the way execvp does, without its fallback to a shell.
//
// Where the document names the program, that file is executed under the spelled argv[0]: opened
// without links first, and compared with the object that was judged. `landlock_abi` is the
// kernel's, for the exec rules that come with the commit (kExecRules).
[[nodiscard]] Failure run_command(Commit commit, std::uint32_t landlock_abi, int control);

}  // namespace loom::bwrap
