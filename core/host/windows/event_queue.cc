#include "host/windows/event_queue.h"

#include <algorithm>

namespace loom::windows {

void EventQueue::post(Action action) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    actions_.push_back(std::move(action));
  }
  posted_.notify_one();
}

EventQueue::TimerId EventQueue::at(Instant when, Action action) {
  const TimerId id = next_id_++;
  timers_.emplace(std::pair(when, id), std::move(action));
  return id;
}

void EventQueue::cancel(TimerId timer) {
  const auto found = std::find_if(timers_.begin(), timers_.end(),
                                  [timer](const auto& each) { return each.first.second == timer; });
  if (found != timers_.end()) timers_.erase(found);
}

void EventQueue::run_once() {
  if (const Action action = wait()) action();
  run_due_timers();
}

// Nothing when a time came first.
EventQueue::Action EventQueue::wait() {
  std::unique_lock<std::mutex> lock(mutex_);
  const auto is_there = [this] { return !actions_.empty(); };
  if (timers_.empty()) {
    posted_.wait(lock, is_there);
  } else if (!posted_.wait_until(lock, timers_.begin()->first.first, is_there)) {
    return {};
  }
  Action action = std::move(actions_.front());
  actions_.pop_front();
  return action;
}

void EventQueue::run_due_timers() {
  const Instant now = std::chrono::steady_clock::now();
  while (!timers_.empty() && timers_.begin()->first.first <= now) {
    const Action action = std::move(timers_.begin()->second);
    timers_.erase(timers_.begin());
    action();
  }
}

}  // namespace loom::windows
