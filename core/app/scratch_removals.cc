#include "app/scratch_removals.h"

#include <utility>

namespace loom::app {
namespace {

// How long others wait for us at a time. Shorter than what an execution takes while it ends: the
// next one may be at work.
constexpr std::chrono::milliseconds kPiece{5};
constexpr std::chrono::milliseconds kPause{1};

}  // namespace

ScratchRemovals::~ScratchRemovals() {
  if (timer_) loop_.cancel(*timer_);
}

void ScratchRemovals::add(host::ScratchRemoval removal) {
  if (waiting_.size() == kMostWaiting) end_first();
  waiting_.push_back(
      {.removal = std::move(removal), .until = std::chrono::steady_clock::now() + kPatience});
  if (!timer_) go_on_soon();
}

void ScratchRemovals::go_on_soon() {
  timer_ = loop_.at(std::chrono::steady_clock::now() + kPause, [this] {
    timer_.reset();
    go_on();
  });
}

void ScratchRemovals::go_on() {
  Waiting& first = waiting_.front();
  const auto now = std::chrono::steady_clock::now();
  if (first.removal.go_on(now + kPiece) || now >= first.until) end_first();
  if (!waiting_.empty()) go_on_soon();
}

void ScratchRemovals::end_first() {
  for (const std::string& problem : waiting_.front().removal.problems()) {
    left_any_ = true;
    session_.log(LogLevel::kWarning, "the private scratch may still be there: " + problem);
  }
  waiting_.pop_front();
}

bool ScratchRemovals::joined() {
  const auto now = std::chrono::steady_clock::now();
  if (!join_until_) join_until_ = now + host::kScratchRemovalLimit;
  if (now < *join_until_) return waiting_.empty();
  while (!waiting_.empty()) end_first();
  if (timer_) loop_.cancel(*timer_);
  timer_.reset();
  return true;
}

}  // namespace loom::app
