#pragma once

#include <loom/bytes.h>
#include <loom/result.h>
#include <loom/unique_fd.h>

#include <cstddef>
#include <deque>
#include <optional>

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
  static constexpr int kPipeBytes = 1 << 18;  // what a pipe is asked to hold

  // `fd` is borrowed and must outlive the sink.
  [[nodiscard]] static Result<ByteSink> open(int fd, const Syscalls& syscalls = real_syscalls());

  void push(Bytes bytes);  // queued whole; nothing is written yet
  // Writes what fits now. kSystem when the reader is gone (EPIPE; main ignores SIGPIPE) or the
  // descriptor broke.
  [[nodiscard]] Result<void> flush();

  // Moves up to `max_bytes` from a pipe towards the output without copying them, into a pipe of the
  // sink's own: nobody else can take them away again, so the number returned is what push_staged
  // may promise. 0 at the pipe's end; nothing when it is empty now, when bytes staged before still
  // wait, or when this output cannot be reached that way (then and ever after can_stage is false).
  [[nodiscard]] std::optional<std::size_t> stage(int pipe, std::size_t max_bytes);
  // Queues what the last stage moved, behind everything pushed before.
  void push_staged(std::size_t bytes);
  [[nodiscard]] bool can_stage() const noexcept { return way_ == Way::kOwnPipe && staging_works_; }
  [[nodiscard]] bool holds_staged() const noexcept { return staged_ > 0; }

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
  // Bytes of ours, or, when empty, `staged` bytes of the staging pipe.
  struct Piece {
    Bytes bytes;
    std::size_t staged = 0;
    [[nodiscard]] std::size_t size() const noexcept { return bytes.size() + staged; }
  };
  [[nodiscard]] ssize_t write_front();
  [[nodiscard]] bool open_staging();

  std::deque<Piece> queue_;
  UniqueFd staging_in_;
  UniqueFd staging_out_;
  bool staging_works_ = true;
  std::size_t staged_ = 0;  // bytes in the staging pipe
  std::size_t head_offset_ = 0;
  std::size_t pending_ = 0;
};

}  // namespace loom::host
