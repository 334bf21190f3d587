#pragma once

#include <loom/result.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "host/syscalls.h"

namespace loom::host {

using Instant = std::chrono::steady_clock::time_point;

// One thread, one poll. Handlers run to completion and never block; they may watch, change and
// forget descriptors and timers, also their own. A descriptor is borrowed: forget it before closing
// it.
class EventLoop {
 public:
  // `revents` of poll: readiness, and POLLHUP or POLLERR whether asked for or not.
  using Handler = std::function<void(short revents)>;
  using TimerId = std::uint64_t;

  explicit EventLoop(const Syscalls& syscalls = real_syscalls()) : syscalls_(&syscalls) {}

  // Handlers of one wake-up run in the order in which their descriptors were first watched.
  // Watching a descriptor again replaces its handler in the same place.
  void watch(int fd, short events, Handler handler);
  // events 0 keeps the registration and takes the descriptor out of the poll (no busy loop on a
  // hang-up).
  void set_events(int fd, short events);
  void forget(int fd);

  TimerId at(Instant when, std::function<void()> action);
  void cancel(TimerId timer);

  // One poll, then its handlers, then the timers that are due, in the order of their times; a timer
  // set meanwhile waits for the next run. EINTR is a normal wake-up. Fails only if poll itself
  // breaks.
  [[nodiscard]] Result<void> run_once();

 private:
  struct Watch {
    int fd = -1;
    short events = 0;
    std::uint64_t generation = 0;
    Handler handler;
  };
  struct Ready {
    std::uint64_t generation;
    short revents;
  };

  [[nodiscard]] Watch* find_fd(int fd) noexcept;
  [[nodiscard]] Watch* find_generation(std::uint64_t generation) noexcept;
  [[nodiscard]] int poll_timeout_ms() const;
  [[nodiscard]] Result<std::vector<Ready>> wait();
  void dispatch(const Ready& ready);
  void run_due_timers();

  const Syscalls* syscalls_;
  std::vector<Watch> watches_;
  std::map<std::pair<Instant, TimerId>, std::function<void()>> timers_;
  std::uint64_t next_id_ = 1;
};

}  // namespace loom::host
