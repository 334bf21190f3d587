#include "host/make_child.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <string>

#include "host/errno_text.h"

namespace loom::host {

namespace {

// The child calls a dozen functions, none deep, none recursive; measured use is under 1 KiB.
constexpr std::size_t kChildStackBytes = 64u << 10;

class AllSignalsBlocked {
 public:
  AllSignalsBlocked() noexcept {
    sigset_t all;
    ::sigfillset(&all);
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
// The child borrows our memory until it executes, on a stack of its own, while we stand still
// (CLONE_VM and CLONE_VFORK, as posix_spawn does): nothing is copied, so the cost does not grow
// with the helper. That is safe because the child only reads plain data and makes system calls,
// signals stay blocked until no handler of ours is left in it, and descriptors, directory, limits
// and dispositions are its own copies. What it does write is errno, which nobody reads across this
// call, and `spec.failure`, which is there for that.
//
// A gated child has a copy instead. The kernel kills everybody who shares the memory of a process
// that meets its group's memory ceiling, and a child that executes in such a group may.
Result<SpawnedChild> make_child(ChildSpec& spec, const Syscalls& syscalls) {
  alignas(64) static std::array<std::byte, kChildStackBytes> stack;
  const int flags = (spec.gate < 0 ? CLONE_VM | CLONE_VFORK : 0) | CLONE_PIDFD | SIGCHLD;
  int pidfd = -1;
  pid_t pid = -1;
  int error = 0;
  {
    const AllSignalsBlocked blocked;
    pid = syscalls.clone(&child_entry, stack.data() + stack.size(), flags, &spec, &pidfd);
    error = errno;
  }
  if (pid < 0) {
    return fail(ErrorCode::kSystem, "start a process: fork: " + errno_text(error), error);
  }
  SpawnedChild child;
  child.pid = pid;
  child.pidfd.reset(pidfd);
  return child;
}

bool child_borrows_memory() noexcept { return true; }

bool can_die_with_parent() noexcept { return true; }

void await_child_end(const SpawnedChild& child, int patience_ms) noexcept {
  pollfd end{.fd = child.pidfd.get(), .events = POLLIN, .revents = 0};
  static_cast<void>(::poll(&end, 1, patience_ms));
}

}  // namespace loom::host
