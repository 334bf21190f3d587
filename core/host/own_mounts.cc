#include "host/own_mounts.h"

#include <poll.h>
#include <unistd.h>

#include <utility>

namespace loom::host {

// poll(2) on a mount table tells of a change once (proc_pid_mounts(5)), so a table that could not
// be read is forgotten.
Result<const ReachableMounts*> OwnMounts::now() {
  if (!table_) {
    mounts_.reset();
    LOOM_TRY(MountTable opened, MountTable::open(::getpid()));
    table_.emplace(std::move(opened));
  }
  pollfd changed{.fd = table_->fd(), .events = POLLPRI, .revents = 0};
  if (mounts_ && ::poll(&changed, 1, 0) == 0) return &*mounts_;
  ++readings_;
  auto rows = table_->rows();
  if (!rows) {
    table_.reset();
    return tl::unexpected(std::move(rows).error());
  }
  mounts_.emplace(*rows);
  return &*mounts_;
}

}  // namespace loom::host
