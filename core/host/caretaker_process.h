#pragma once

#include <loom/unique_fd.h>

#include "host/syscalls.h"

namespace loom::host {

// The life of a caretaker, in the process that was forked for it. Cuts itself off from everything
// of the helper's but `socket`, serves it, and, when nobody holds its other end any more, ends what
// jails are left and removes what was made for them. Never returns.
[[noreturn]] void run_caretaker(UniqueFd socket, const Syscalls& syscalls) noexcept;

}  // namespace loom::host
