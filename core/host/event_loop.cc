#include "host/event_loop.h"

#include <loom/check.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "host/errno_text.h"

namespace loom::host {

void EventLoop::watch(int fd, short events, Handler handler) {
  LOOM_CHECK(fd >= 0);
  const std::uint64_t generation = next_id_++;
  Watch fresh{.fd = fd, .events = events, .generation = generation, .handler = std::move(handler)};
  if (Watch* const old = find_fd(fd)) {
    *old = std::move(fresh);
  } else {
    watches_.push_back(std::move(fresh));
  }
}

void EventLoop::set_events(int fd, short events) {
  if (Watch* const watch = find_fd(fd)) watch->events = events;
}

void EventLoop::forget(int fd) {
  std::erase_if(watches_, [fd](const Watch& watch) { return watch.fd == fd; });
}

EventLoop::TimerId EventLoop::at(Instant when, std::function<void()> action) {
  const TimerId timer = next_id_++;
  timers_.emplace(std::pair(when, timer), std::move(action));
  return timer;
}

void EventLoop::cancel(TimerId timer) {
  std::erase_if(timers_, [timer](const auto& entry) { return entry.first.second == timer; });
}

Result<void> EventLoop::run_once() {
  LOOM_TRY(const std::vector<Ready> ready, wait());
  for (const Ready& one : ready) dispatch(one);
  run_due_timers();
  return {};
}

EventLoop::Watch* EventLoop::find_fd(int fd) noexcept {
  const auto found = std::find_if(watches_.begin(), watches_.end(),
                                  [fd](const Watch& watch) { return watch.fd == fd; });
  return found == watches_.end() ? nullptr : &*found;
}

EventLoop::Watch* EventLoop::find_generation(std::uint64_t generation) noexcept {
  const auto found =
      std::find_if(watches_.begin(), watches_.end(),
                   [generation](const Watch& watch) { return watch.generation == generation; });
  return found == watches_.end() ? nullptr : &*found;
}

// Rounded up: a poll that returns a little early would spin until the deadline.
int EventLoop::poll_timeout_ms() const {
  if (timers_.empty()) return -1;
  const auto left = timers_.begin()->first.first - std::chrono::steady_clock::now();
  if (left <= left.zero()) return 0;
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
  return static_cast<int>(std::min<std::int64_t>(ms, INT_MAX));
}

Result<std::vector<EventLoop::Ready>> EventLoop::wait() {
  std::vector<pollfd> polled;
  std::vector<Ready> ready;
  polled.reserve(watches_.size());
  ready.reserve(watches_.size());
  for (const Watch& watch : watches_) {
    if (watch.events == 0) continue;
    polled.push_back(pollfd{.fd = watch.fd, .events = watch.events, .revents = 0});
    ready.push_back(Ready{.generation = watch.generation, .revents = 0});
  }
  const int count =
      syscalls_->poll(polled.data(), static_cast<nfds_t>(polled.size()), poll_timeout_ms());
  const int error = errno;
  if (count < 0 && error != EINTR) {
    return fail(ErrorCode::kSystem, "poll: " + errno_text(error), error);
  }
  // After an interruption the kernel has not filled in anything.
  for (std::size_t i = 0; count > 0 && i < polled.size(); ++i) ready[i].revents = polled[i].revents;
  std::erase_if(ready, [](const Ready& one) { return one.revents == 0; });
  return ready;
}

// A handler may forget or replace its own registration, so it must not live there while it runs;
// and an event of this wake-up must not reach a registration that was made after it.
void EventLoop::dispatch(const Ready& ready) {
  Watch* watch = find_generation(ready.generation);
  if (watch == nullptr || watch->events == 0) return;
  LOOM_CHECK((ready.revents & POLLNVAL) == 0);  // closed before it was forgotten
  Handler handler = std::move(watch->handler);
  handler(ready.revents);
  watch = find_generation(ready.generation);
  if (watch != nullptr) watch->handler = std::move(handler);
}

void EventLoop::run_due_timers() {
  const auto end = timers_.upper_bound({std::chrono::steady_clock::now(), UINT64_MAX});
  std::vector<std::pair<Instant, TimerId>> due;
  for (auto timer = timers_.begin(); timer != end; ++timer) due.push_back(timer->first);
  for (const auto& key : due) {
    auto timer = timers_.extract(key);
    if (timer) timer.mapped()();  // cancelled by an earlier one otherwise
  }
}

}  // namespace loom::host
