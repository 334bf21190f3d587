#pragma once

#include <loom/bytes.h>
#include <loom/result.h>
#include <loom/unique_fd.h>

#include <cstddef>
#include <deque>

#include "host/syscalls.h"

namespace loom::host {

// Writes a stream of bytes to a descriptor that somebody else reads, without ever blocking and
// without changing flags that other processes share: a pipe is reopened for a description of its
// own, a socket is written with MSG_DONTWAIT, a regular file or device is written as it is.
class ByteSink {
 public:
  // `fd` is borrowed and must outlive the sink.
  [[nodiscard]] static Result<ByteSink> open(int fd, const Syscalls& syscalls = real_syscalls());

  void push(Bytes bytes);  // queued whole; nothing is written yet
  // Writes what fits now. kSystem when the reader is gone (EPIPE; main ignores SIGPIPE) or the
  // descriptor broke.
  [[nodiscard]] Result<void> flush();

  [[nodiscard]] std::size_t pending() const noexcept { return pending_; }
  [[nodiscard]] int poll_fd() const noexcept { return own_ ? own_.get() : fd_; }
  // Whether poll tells when to go on (false: flush always writes everything).
  [[nodiscard]] bool can_wait() const noexcept { return way_ != Way::kPlain; }

 private:
  enum class Way : unsigned char {
    kOwnPipe,     // a non-blocking description of our own
    kSharedPipe,  // somebody else's pipe that we may not reopen: small pieces, each after a poll
    kSocket,
    kPlain,
  };
  ByteSink(int fd, const Syscalls& syscalls) : fd_(fd), syscalls_(&syscalls) {}
  [[nodiscard]] ssize_t write_piece(ByteView bytes) const;
  [[nodiscard]] ssize_t write_when_ready(ByteView bytes) const;

  int fd_ = -1;
  const Syscalls* syscalls_;
  UniqueFd own_;
  Way way_ = Way::kPlain;
  std::deque<Bytes> queue_;
  std::size_t head_offset_ = 0;
  std::size_t pending_ = 0;
};

}  // namespace loom::host
