#include "host/syscalls.h"

#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include "host/posix/poll.h"

namespace loom::host {

namespace {

// The child has a copy of our memory and our stack; flags are for clone(2) alone, and there is no
// descriptor of a process.
pid_t fork_and_enter(int (*entry)(void*), void*, int, void* argument, int* pidfd) {
  *pidfd = -1;
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(entry(argument));
  return pid;
}

}  // namespace

const Syscalls& real_syscalls() noexcept {
  static constexpr Syscalls kReal{.clone = &fork_and_enter,
                                  .write = &::write,
                                  .poll = &poll_anything,
                                  .flock = &::flock,
                                  .kill = &::kill};
  return kReal;
}

}  // namespace loom::host
