#pragma once

#include <loom/bytes.h>

#include <functional>
#include <utility>

#include "host/stdin_answer.h"
#include "host/windows/pipe_writer.h"

namespace loom::windows {

// The command's standard input: chunks queued in order, written by a thread as the command reads,
// bounded (docs/wire.md 6.2).
class StdinFeed {
 public:
  StdinFeed(EventQueue& events, UniqueHandle pipe, std::function<void()> on_moved)
      : writer_(events, std::move(pipe), std::move(on_moved)) {}

  // Bytes pending before plus this chunk stay within kMaxPendingStdin, or nothing was pending.
  [[nodiscard]] host::StdinAnswer offer(ByteView chunk, bool eof);
  // The execution has ended: drops what is queued and closes the pipe. Twice is fine.
  void abandon();

 private:
  PipeWriter writer_;
  bool eof_ = false;
  bool ended_ = false;
};

}  // namespace loom::windows
