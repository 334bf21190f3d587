#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include <loom/result.h>

namespace loom::host {

using Instant = std::chrono::steady_clock::time_point;

// One thread, one poll. Handlers run to completion and never block; they may watch, change and forget
// descriptors and timers, also their own. A descriptor is borrowed: forget it before closing it.
class EventLoop {
 public:
  // `revents` of poll: readiness, and POLLHUP or POLLERR whether asked for or not.
  using Handler = std::function<void(short revents)>;
  using TimerId = std::uint64_t;

  // Handlers of one wake-up run in the order in which their descriptors were first watched.
  void watch(int fd, short events, Handler handler);
  // events 0 keeps the registration and takes the descriptor out of the poll (no busy loop on a hang-up).
  void set_events(int fd, short events);
  void forget(int fd);

  TimerId at(Instant when, std::function<void()> action);
  void cancel(TimerId timer);

  // One poll, then its handlers, then the timers that are due. EINTR is a normal wake-up. Fails only if
  // poll itself breaks.
  [[nodiscard]] Result<void> run_once();

 private:
  struct Watch {
    int fd = -1;
    short events = 0;
    std::uint64_t generation = 0;
    Handler handler;
  };
  std::vector<Watch> watches_;
  std::map<std::pair<Instant, TimerId>, std::function<void()>> timers_;
  std::uint64_t next_id_ = 1;
};

}  // namespace loom::host
