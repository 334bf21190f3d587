#pragma once

#include <poll.h>

#include <vector>

namespace loom::host {

// As poll(2) where it knows no devices: `is_device` tells, one for each of `fds`, what only
// select(2) can wait for. A device is readable or writable, nothing else; everything else is as
// poll says. A descriptor that is closed is POLLNVAL, as ever. Portable, so that it can be tried
// where poll needs no such help; for a little-endian machine.
[[nodiscard]] int poll_with_devices(pollfd* fds, nfds_t count, int timeout_ms,
                                    const std::vector<bool>& is_device);

}  // namespace loom::host
