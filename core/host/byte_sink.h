#pragma once

#include <cstddef>
#include <deque>

#include <loom/bytes.h>
#include <loom/result.h>
#include <loom/unique_fd.h>

namespace loom::host {

// Writes a stream of bytes to a descriptor that somebody else reads, without ever blocking and without
// changing flags that other processes share: a pipe is reopened for a description of its own, a socket is
// written with MSG_DONTWAIT, a regular file or device is written as it is.
class ByteSink {
 public:
  // `fd` is borrowed and must outlive the sink.
  [[nodiscard]] static Result<ByteSink> open(int fd);

  void push(Bytes bytes);  // queued whole; nothing is written yet
  // Writes what fits now. kSystem when the reader is gone (EPIPE) or the descriptor broke.
  [[nodiscard]] Result<void> flush();

  [[nodiscard]] std::size_t pending() const noexcept { return pending_; }
  [[nodiscard]] int poll_fd() const noexcept { return own_ ? own_.get() : fd_; }
  // Whether poll tells when to go on (false: flush always writes everything).
  [[nodiscard]] bool can_wait() const noexcept { return can_wait_; }

 private:
  int fd_ = -1;
  UniqueFd own_;
  bool socket_ = false;
  bool can_wait_ = false;
  std::deque<Bytes> queue_;
  std::size_t head_offset_ = 0;
  std::size_t pending_ = 0;
};

}  // namespace loom::host
