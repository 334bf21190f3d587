#pragma once

#include <loom/bytes.h>
#include <loom/result.h>
#include <loom/unique_fd.h>

#include <cstddef>
#include <deque>
#include <span>

#include "host/syscalls.h"

namespace loom::host {

// Writes a stream of bytes to a descriptor that somebody else reads, without ever blocking and
// without changing flags that other processes share: a pipe or a terminal is reopened for a
// description of its own, a socket is written with MSG_DONTWAIT, a regular file or device is
// written as it is. A pipe or a terminal that may not be reopened (it is another user's, or a
// pseudo-terminal's controlling side) gets small pieces, each after a poll. Only such a terminal
// can hold flush up, for kSharedTerminalPatience, when it stops taking output just after the poll.
class ByteSink {
 public:
  static constexpr int kPipeBytes = 1 << 18;       // what a pipe is asked to hold
  static constexpr int kFloodPipeBytes = 1 << 19;  // and one that was once full

  // `fd` is borrowed and must outlive the sink.
  [[nodiscard]] static Result<ByteSink> open(int fd, const Syscalls& syscalls = real_syscalls());

  void push(Bytes bytes);  // queued whole; nothing is written yet
  // Writes what fits now. kSystem when the reader is gone (EPIPE; main ignores SIGPIPE) or the
  // descriptor broke.
  [[nodiscard]] Result<void> flush();

  // As push of each piece in turn, but where nothing waits, what a pipe of our own takes at once is
  // not copied. What goes wrong goes wrong again at the next flush, which tells.
  void push_or_write(std::span<const ByteView> pieces);

  [[nodiscard]] std::size_t pending() const noexcept { return pending_; }
  [[nodiscard]] int poll_fd() const noexcept { return own_ ? own_.get() : fd_; }
  // Whether poll tells when to go on (false: flush always writes everything).
  [[nodiscard]] bool can_wait() const noexcept { return way_ != Way::kPlain; }

 private:
  enum class Way : unsigned char {
    kOwnPipe,     // a non-blocking description of our own
    kOwnDevice,   // the same for a terminal, which may stop taking output (Ctrl-S)
    kSharedPipe,  // somebody else's pipe that we may not reopen: small pieces, each after a poll
    kSharedTerminal,  // the same for a terminal (shared_terminal.h)
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
  [[nodiscard]] ssize_t write_pieces(std::span<const ByteView> pieces) const;

  bool was_full_ = false;
  std::deque<Bytes> queue_;
  std::size_t head_offset_ = 0;
  std::size_t pending_ = 0;
};

}  // namespace loom::host
