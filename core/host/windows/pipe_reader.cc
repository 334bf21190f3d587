#include "host/windows/pipe_reader.h"

#include <utility>

#include "host/windows/pipe.h"

namespace loom::windows {

PipeReader::PipeReader(EventQueue& events, UniqueHandle pipe, std::size_t chunk_bytes,
                       OnBytes on_bytes)
    : events_(events),
      pipe_(std::move(pipe)),
      chunk_bytes_(chunk_bytes),
      on_bytes_(std::move(on_bytes)) {
  thread_.emplace([this] { read_on(); });
}

PipeReader::~PipeReader() {
  stop();
  *alive_ = false;
}

// ---- on the thread ------------------------------------------------------------------------------

void PipeReader::read_on() {
  for (bool more = true; more;) {
    {
      std::unique_lock<std::mutex> lock(mutex_);
      may_read_.wait(lock, [this] { return stopping_ || delivered_; });
      if (stopping_) return;
      delivered_ = false;
    }
    Bytes chunk(chunk_bytes_);
    more = read_chunk(chunk);
    events_.post([this, alive = alive_, chunk = std::move(chunk)]() mutable {
      if (*alive) take(std::move(chunk));
    });
  }
}

// False, and an empty chunk, at the end or when it was cancelled.
bool PipeReader::read_chunk(Bytes& chunk) {
  for (;;) {
    DWORD got = 0;
    const BOOL read =
        ::ReadFile(pipe_.get(), chunk.data(), static_cast<DWORD>(chunk.size()), &got, nullptr);
    if (read != 0 && got > 0) {
      chunk.resize(got);
      return true;
    }
    // Somebody may write nothing at all into a pipe, and that is delivered.
    const bool empty_write = read != 0 && is_live_pipe(pipe_.get());
    const std::lock_guard<std::mutex> lock(mutex_);
    if (empty_write && !stopping_) continue;
    chunk.clear();
    return false;
  }
}

// ---- on the deciding thread ---------------------------------------------------------------------

void PipeReader::take(Bytes chunk) {
  if (ended_) return;
  kept_ = std::move(chunk);
  if (wanted_) deliver();
}

void PipeReader::deliver() {
  const Bytes chunk = std::move(*kept_);
  kept_.reset();
  if (chunk.empty()) {
    ended_ = true;
    return on_bytes_({});
  }
  const std::shared_ptr<bool> alive = alive_;
  on_bytes_(chunk);
  if (!*alive) return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    delivered_ = true;
  }
  may_read_.notify_one();
}

void PipeReader::want(bool wanted) {
  wanted_ = wanted;
  if (!wanted || !kept_) return;
  // Later, because the caller is in the middle of something.
  events_.post([this, alive = alive_] {
    if (*alive && wanted_ && kept_) deliver();
  });
}

void PipeReader::stop() {
  ended_ = true;
  kept_.reset();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  may_read_.notify_one();
  if (thread_) thread_->cancel_and_join();
  pipe_.reset();
}

// While nothing is kept the thread is inside of a read, which holds the pipe's lock: to peek would
// wait for it as long as nobody writes. The end comes out of that read by itself, and is kept.
bool PipeReader::other_side_gone() const noexcept {
  if (!kept_) return false;
  return kept_->empty() || has_ended(pipe_.get());
}

}  // namespace loom::windows
