#pragma once

#include <loom/stage2_control.h>

#include "failure.h"

namespace loom::seatbelt {

// Default signals and an empty mask.
void reset_signals() noexcept;

// Whether the search along PATH goes on after execve failed with `error`. A directory that the
// profile does not show answers EPERM for every name in it, so that is no answer about the program.
[[nodiscard]] bool looks_further(int error) noexcept;

// Becomes the command: its directory, exactly its environment. Returns only when that did not work,
// and says how: kDirectory, kLookup (there is no such program) or kExecute (there is one, and the
// kernel refused it).
//
// argv[0] with a slash is used as it is; otherwise PATH of the command's own environment is
// searched the way execvp does, without its fallback to a shell.
//
// Where the document names the program, that file is executed under the spelled argv[0], if no link
// leads to it and it is still the object that was judged. What replaces it between that look and
// execve is not seen here: the profile's rules are what holds.
[[nodiscard]] Failure run_command(CommitDocument document);

}  // namespace loom::seatbelt
