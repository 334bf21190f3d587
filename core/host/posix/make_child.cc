#include "host/make_child.h"

#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>
#include <utility>

#include "host/errno_text.h"
#include "host/exit_status.h"
#include "host/posix/child_ends.h"
#include "host/posix/open_descriptors.h"

namespace loom::host {

namespace {

class AllSignalsBlocked {
 public:
  AllSignalsBlocked() noexcept {
    sigset_t all;
    sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, &before_);
  }
  ~AllSignalsBlocked() noexcept { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked(AllSignalsBlocked&&) = delete;
  AllSignalsBlocked& operator=(AllSignalsBlocked&&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

// The one place that makes processes.
//
// The child gets a copy of our memory, and only reads plain data in it and makes system calls.
// Signals stay blocked until no handler of ours is left in it. The watch is there before the child,
// so that no end is missed, and the highest descriptor is asked for last, when everything that the
// child inherits is open.
Result<SpawnedChild> make_child(ChildSpec& spec, const Syscalls& syscalls) {
  if (spec.image_fd >= 0) {
    return fail(ErrorCode::kUnsupported, "start a process: this system executes nothing by handle");
  }
  SpawnedChild child;
  LOOM_TRY(child.pidfd, watch_child_end());
  spec.highest_descriptor = highest_descriptor();
  int none = -1;
  int error = 0;
  {
    const AllSignalsBlocked blocked;
    child.pid = syscalls.clone(&child_entry, nullptr, SIGCHLD, &spec, &none);
    error = errno;
  }
  if (child.pid < 0) {
    end_child_watch(child.pidfd.get());
    return fail(ErrorCode::kSystem, "start a process: fork: " + errno_text(error), error);
  }
  name_watched_child(child.pidfd.get(), child.pid);
  return child;
}

bool child_borrows_memory() noexcept { return false; }

bool can_die_with_parent() noexcept { return false; }

void await_child_end(const SpawnedChild& child, int patience_ms) noexcept {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(patience_ms);
  for (;;) {
    const auto ended = has_ended(child.pidfd.get());
    if (!ended || *ended) return;
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return;
    pollfd end{.fd = child.pidfd.get(), .events = POLLIN, .revents = 0};
    static_cast<void>(::poll(&end, 1, static_cast<int>(left.count())));
  }
}

}  // namespace loom::host
