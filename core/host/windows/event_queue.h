#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <utility>

namespace loom::windows {

using Instant = std::chrono::steady_clock::time_point;

// What the one thread that decides waits for: things that other threads saw, and times. Pipes that
// a process inherited cannot be waited for on Windows together with anything else, so a thread
// blocks on each and posts what came.
class EventQueue {
 public:
  using Action = std::function<void()>;
  using TimerId = std::uint64_t;

  EventQueue() = default;
  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;

  // From any thread. Actions run in the order of their posting.
  void post(Action action);

  // The rest is for the deciding thread alone.
  TimerId at(Instant when, Action action);
  void cancel(TimerId timer);
  // Waits for one thing, or for the nearest time; runs it.
  void run_once();

 private:
  [[nodiscard]] Action wait();
  void run_due_timers();

  std::mutex mutex_;
  std::condition_variable posted_;
  std::deque<Action> actions_;
  std::map<std::pair<Instant, TimerId>, Action> timers_;
  TimerId next_id_ = 1;
};

}  // namespace loom::windows
