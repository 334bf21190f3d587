#pragma once

#include "control.h"

namespace landlock::stage2 {

// Default dispositions and an empty mask, for every signal there is.
void reset_signals() noexcept;
// Everything above the standard three closes with the exec.
void mark_descriptors() noexcept;
// Becomes the command. Returns never.
[[noreturn]] void run_command(const Commit& commit) noexcept;

}  // namespace landlock::stage2
