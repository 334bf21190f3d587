#pragma once

#include <loom/bytes.h>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "host/windows/blocking_thread.h"
#include "host/windows/event_queue.h"

namespace loom::windows {

// Reads a pipe on a thread of its own, one chunk at a time: the next is read when the last was
// taken and wanted. So a flood blocks whoever writes it, and memory stays bounded.
class PipeReader {
 public:
  // Both run on the deciding thread. After the call with an empty view nothing comes any more.
  using OnBytes = std::function<void(ByteView bytes)>;

  PipeReader(EventQueue& events, UniqueHandle pipe, std::size_t chunk_bytes, OnBytes on_bytes);
  ~PipeReader();
  PipeReader(const PipeReader&) = delete;
  PipeReader& operator=(const PipeReader&) = delete;

  // While not wanted, one chunk may be read and is kept.
  void want(bool wanted);
  // Cancels what blocks and closes the pipe. Nothing comes any more.
  void stop();
  [[nodiscard]] bool ended() const noexcept { return ended_; }
  // To be asked while nothing is wanted: whether the other side is gone, as far as can be told
  // without waiting. What lies unread in the pipe hides it.
  [[nodiscard]] bool other_side_gone() const noexcept;

 private:
  void read_on();
  [[nodiscard]] bool read_chunk(Bytes& chunk);
  void take(Bytes chunk);
  void deliver();

  EventQueue& events_;
  UniqueHandle pipe_;
  std::size_t chunk_bytes_;
  OnBytes on_bytes_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // of the deciding thread
  bool wanted_ = true;
  bool ended_ = false;
  std::optional<Bytes> kept_;  // read, and not delivered yet

  std::mutex mutex_;
  std::condition_variable may_read_;
  bool stopping_ = false;                 // under mutex_
  bool delivered_ = true;                 // under mutex_: the last chunk was taken
  std::optional<BlockingThread> thread_;  // last: it uses everything above
};

}  // namespace loom::windows
