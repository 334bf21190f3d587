#pragma once

#include <loom/bytes.h>
#include <sys/types.h>

#include <chrono>

#include "host/syscalls.h"

namespace loom::host {

// The longest that one write_shared_terminal may take, and then only if the terminal stopped taking
// output between the poll and the write.
inline constexpr std::chrono::milliseconds kSharedTerminalPatience{10};

// As write(2) to a terminal that is shared with others and blocks: a little of `bytes`; EAGAIN
// where it would have to wait, and when the poll after it says so again. Changes nothing that
// others share. The process's real-time timer and SIGALRM are borrowed while it writes: an alarm
// that was set before comes when it was due, or kSharedTerminalPatience later.
[[nodiscard]] ssize_t write_shared_terminal(const Syscalls& syscalls, int fd, ByteView bytes);

// Whether this is the controlling side of a pseudo-terminal. It is a terminal too, but the name it
// gives makes a new one each time it is opened.
[[nodiscard]] bool is_terminal_master(int fd);

}  // namespace loom::host
