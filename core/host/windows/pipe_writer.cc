#include "host/windows/pipe_writer.h"

#include <algorithm>
#include <utility>

namespace loom::windows {
namespace {

constexpr std::size_t kMostAtOnce = 1u << 16;

}  // namespace

PipeWriter::PipeWriter(EventQueue& events, UniqueHandle pipe, std::function<void()> on_moved)
    : events_(events), pipe_(std::move(pipe)), on_moved_(std::move(on_moved)) {
  thread_.emplace([this] { write_on(); });
}

PipeWriter::~PipeWriter() {
  stop();
  *alive_ = false;
}

// ---- on the thread ------------------------------------------------------------------------------

void PipeWriter::write_on() {
  for (;;) {
    Bytes bytes;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [this] { return stopping_ || closing_ || !queue_.empty(); });
      if (stopping_ || queue_.empty()) break;
      bytes = std::move(queue_.front());
      queue_.pop_front();
    }
    if (write_whole(bytes)) continue;
    const std::lock_guard<std::mutex> lock(mutex_);
    broken_ = true;
    queue_.clear();
    pending_ = 0;
    break;
  }
  // The reader learns of the end now, not when somebody gets round to it.
  pipe_.reset();
  moved(0);
}

bool PipeWriter::write_whole(const Bytes& bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t most = std::min(bytes.size() - at, kMostAtOnce);
    DWORD wrote = 0;
    if (::WriteFile(pipe_.get(), bytes.data() + at, static_cast<DWORD>(most), &wrote, nullptr) ==
        0) {
      return false;
    }
    at += wrote;
    moved(wrote);
  }
  return true;
}

void PipeWriter::moved(std::size_t bytes) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    pending_ -= std::min(bytes, pending_);
    if (std::exchange(told_, true)) return;
  }
  events_.post([this, alive = alive_] {
    if (!*alive) return;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      told_ = false;
    }
    on_moved_();
  });
}

// ---- on the deciding thread ---------------------------------------------------------------------

void PipeWriter::push(Bytes bytes) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (stopping_ || broken_ || bytes.empty()) return;
    pending_ += bytes.size();
    queue_.push_back(std::move(bytes));
  }
  changed_.notify_one();
}

void PipeWriter::close_when_written() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    closing_ = true;
  }
  changed_.notify_one();
}

void PipeWriter::stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
    queue_.clear();
    pending_ = 0;
  }
  changed_.notify_one();
  if (thread_) thread_->cancel_and_join();
}

std::size_t PipeWriter::pending() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return pending_;
}

bool PipeWriter::broken() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return broken_;
}

}  // namespace loom::windows
