#pragma once

#include <poll.h>
#include <sys/types.h>

#include <cstddef>

namespace loom::host {

// The system calls whose failures the host has to survive, as a table, so that a test can hand in
// one that fails, writes short or is interrupted. Everything else is called directly.
struct Syscalls {
  // clone(2) with CLONE_PIDFD: `entry(argument)` runs in the child on `stack_top`.
  pid_t (*clone)(int (*entry)(void*), void* stack_top, int flags, void* argument, int* pidfd);
  ssize_t (*write)(int fd, const void* data, std::size_t size);
  int (*poll)(pollfd* fds, nfds_t count, int timeout_ms);
  int (*flock)(int fd, int operation) = nullptr;
  int (*kill)(pid_t pid, int signal) = nullptr;
};

[[nodiscard]] const Syscalls& real_syscalls() noexcept;

}  // namespace loom::host
