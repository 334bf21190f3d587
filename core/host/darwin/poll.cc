#include "host/posix/poll.h"

#include <fcntl.h>

#include <vector>

#include "host/posix/poll_with_devices.h"

namespace loom::host {

// With a device among its descriptors poll returns at once and calls it POLLNVAL (poll_nocancel in
// bsd/kern/sys_generic.c). A descriptor that is really closed is not open for fcntl either.
int poll_anything(pollfd* fds, nfds_t count, int timeout_ms) {
  const int ready = ::poll(fds, count, timeout_ms);
  if (ready <= 0) return ready;
  std::vector<bool> is_device(count);
  int devices = 0;
  for (nfds_t i = 0; i < count; ++i) {
    is_device[i] = (fds[i].revents & POLLNVAL) != 0 && ::fcntl(fds[i].fd, F_GETFD) >= 0;
    if (is_device[i]) ++devices;
  }
  if (devices == 0) return ready;
  return poll_with_devices(fds, count, ready > devices ? 0 : timeout_ms, is_device);
}

}  // namespace loom::host
