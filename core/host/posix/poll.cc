#include "host/posix/poll.h"

namespace loom::host {

int poll_anything(pollfd* fds, nfds_t count, int timeout_ms) {
  return ::poll(fds, count, timeout_ms);
}

}  // namespace loom::host
