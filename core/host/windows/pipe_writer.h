#pragma once

#include <loom/bytes.h>

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "host/windows/blocking_thread.h"
#include "host/windows/event_queue.h"

namespace loom::windows {

// Writes a pipe on a thread of its own: whoever does not read it holds up nobody else.
class PipeWriter {
 public:
  // `on_moved` runs on the deciding thread: something was written, or nobody reads any more.
  PipeWriter(EventQueue& events, UniqueHandle pipe, std::function<void()> on_moved);
  ~PipeWriter();
  PipeWriter(const PipeWriter&) = delete;
  PipeWriter& operator=(const PipeWriter&) = delete;

  void push(Bytes bytes);               // queued whole; the caller keeps the sum within its bounds
  void close_when_written();            // nothing is pushed after this
  void stop();                          // drops what is queued, cancels what blocks, closes
  [[nodiscard]] std::size_t pending();  // bytes not written yet
  [[nodiscard]] bool broken();          // a write failed

 private:
  void write_on();
  [[nodiscard]] bool write_whole(const Bytes& bytes);
  void moved(std::size_t bytes);

  EventQueue& events_;
  UniqueHandle pipe_;
  std::function<void()> on_moved_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // of the deciding thread

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Bytes> queue_;  // everything from here on under mutex_
  std::size_t pending_ = 0;
  bool closing_ = false;
  bool stopping_ = false;
  bool broken_ = false;
  bool told_ = false;                     // a call of on_moved is on its way
  std::optional<BlockingThread> thread_;  // last: it uses everything above
};

}  // namespace loom::windows
