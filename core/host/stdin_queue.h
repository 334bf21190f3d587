#pragma once

#include <loom/bytes.h>
#include <loom/result.h>
#include <loom/unique_fd.h>

#include <cstddef>
#include <deque>
#include <utility>

#include "host/stdin_answer.h"
#include "host/syscalls.h"

namespace loom::host {

// The command's standard input: chunks queued in order, written as the command reads, bounded
// (docs/wire.md 6.2).
class StdinQueue {
 public:
  // Owns the pipe's write end, which is non-blocking. SIGPIPE must be ignored (main does that): a
  // reader that is gone is an answer here, not a signal.
  explicit StdinQueue(UniqueFd pipe, const Syscalls& syscalls = real_syscalls())
      : syscalls_(&syscalls), pipe_(std::move(pipe)) {}

  // Bytes pending before plus this chunk stay within kMaxPendingStdin, or nothing was pending.
  [[nodiscard]] StdinAnswer offer(ByteView chunk, bool eof);
  // Writes what the pipe takes; closes it after the last byte before eof; remembers a failure.
  void write_some();
  // The execution has ended: drops the queue and closes the pipe. Twice is fine.
  void abandon();

  [[nodiscard]] bool wants_write() const noexcept { return pipe_ && pending_ > 0; }
  [[nodiscard]] std::size_t pending() const noexcept { return pending_; }
  [[nodiscard]] int fd() const noexcept { return pipe_.get(); }  // -1 once closed

 private:
  void drop_written(std::size_t bytes);
  void drop_all();

  const Syscalls* syscalls_;
  UniqueFd pipe_;
  std::deque<Bytes> queue_;
  std::size_t head_offset_ = 0;
  std::size_t pending_ = 0;
  bool eof_ = false;
  bool ended_ = false;
  bool failed_ = false;
};

}  // namespace loom::host
