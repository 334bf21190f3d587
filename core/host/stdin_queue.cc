#include "host/stdin_queue.h"

#include <cerrno>

namespace loom::host {

namespace {

// Small chunks share a block: a million chunks of one byte must not cost a million allocations.
constexpr std::size_t kBlockBytes = 64u << 10;

}  // namespace

StdinAnswer StdinQueue::offer(ByteView chunk, bool eof) {
  if (ended_) return StdinAnswer::kEnded;
  if (failed_) return StdinAnswer::kWriteFailed;
  if (eof_) return StdinAnswer::kAfterEof;
  if (pending_ > 0 && !chunk.empty() && pending_ + chunk.size() > kMaxPendingStdin) {
    return StdinAnswer::kWait;
  }
  if (!queue_.empty() && queue_.back().size() + chunk.size() <= kBlockBytes) {
    queue_.back().insert(queue_.back().end(), chunk.begin(), chunk.end());
  } else if (!chunk.empty()) {
    queue_.emplace_back(chunk.begin(), chunk.end());
  }
  pending_ += chunk.size();
  eof_ = eof;
  if (eof_ && pending_ == 0) pipe_.reset();
  return StdinAnswer::kAccepted;
}

void StdinQueue::write_some() {
  while (wants_write()) {
    const ByteView rest = ByteView(queue_.front()).subspan(head_offset_);
    const ssize_t wrote = syscalls_->write(pipe_.get(), rest.data(), rest.size());
    const int error = errno;
    if (wrote >= 0) {
      drop_written(static_cast<std::size_t>(wrote));
    } else if (error == EAGAIN) {
      return;
    } else if (error != EINTR) {
      failed_ = true;
      drop_all();
      return;
    }
  }
  if (eof_ && pending_ == 0) pipe_.reset();
}

void StdinQueue::abandon() {
  ended_ = true;
  drop_all();
}

void StdinQueue::drop_written(std::size_t bytes) {
  pending_ -= bytes;
  head_offset_ += bytes;
  if (head_offset_ == queue_.front().size()) {
    queue_.pop_front();
    head_offset_ = 0;
  }
}

void StdinQueue::drop_all() {
  queue_.clear();
  head_offset_ = 0;
  pending_ = 0;
  pipe_.reset();
}

}  // namespace loom::host
