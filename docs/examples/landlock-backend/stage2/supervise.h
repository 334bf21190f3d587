#pragma once

#include <sys/types.h>

namespace landlock::stage2 {

// How many processes a run has besides the command: see main.cc.
enum class Whom { kChild, kGroupOfChild };

// Everything below this process comes back to it when its parent ends. With every signal blocked
// from here on. Gives up where the kernel refuses.
void become_keeper() noexcept;

// Waits for `child`, passes SIGTERM on to it, ends everything that is left below this process, and
// ends as `child` did. When `parent` ends first, ends everything at once: this process has armed
// its own parent-death signal. Never returns.
[[noreturn]] void keep(pid_t child, Whom whom, pid_t parent) noexcept;

}  // namespace landlock::stage2
