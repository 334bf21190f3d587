#include "host/syscalls.h"

#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

namespace loom::host {

namespace {

pid_t clone_with_pidfd(int (*entry)(void*), void* stack_top, int flags, void* argument,
                       int* pidfd) {
  // The slot of the parent's thread id receives the process descriptor instead (clone(2),
  // CLONE_PIDFD).
  return ::clone(entry, stack_top, flags, argument, pidfd);
}

}  // namespace

const Syscalls& real_syscalls() noexcept {
  static constexpr Syscalls kReal{.clone = &clone_with_pidfd,
                                  .write = &::write,
                                  .poll = &::poll,
                                  .flock = &::flock,
                                  .kill = &::kill};
  return kReal;
}

}  // namespace loom::host
