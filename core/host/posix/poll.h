#pragma once

#include <poll.h>

namespace loom::host {

// poll(2) for every kind of descriptor. macOS's own calls a terminal by the name /dev/tty,
// /dev/null and other devices invalid (poll(2), BUGS).
int poll_anything(pollfd* fds, nfds_t count, int timeout_ms);

}  // namespace loom::host
