#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "host/control_group.h"

namespace loom::host {

struct ControlGroupRemovals::Waiting {
  ControlGroup group;
  Instant until;
  UniqueFd events{};  // inotify; none where the user has no instances left: the timer goes on
  std::optional<EventLoop::TimerId> timer{};
};

namespace {

bool removed_or_hopeless(ControlGroup& group) {
  const auto gone = group.try_remove();
  return !gone || *gone;
}

// Says only that it is time to look again.
void drain(int events) {
  std::array<char, 4'096> ignored;
  while (::read(events, ignored.data(), ignored.size()) > 0) {
  }
}

// The kernel modifies the file when `populated` in it changes.
UniqueFd watch_events(const ControlGroup& group) {
  UniqueFd queue(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  const std::string file = group.path() + "/cgroup.events";
  if (queue && ::inotify_add_watch(queue.get(), file.c_str(), IN_MODIFY) < 0) queue.reset();
  return queue;
}

}  // namespace

ControlGroupRemovals::ControlGroupRemovals(EventLoop& loop) : loop_(loop) {}

ControlGroupRemovals::~ControlGroupRemovals() {
  while (!waiting_.empty()) {
    Waiting& last = *waiting_.begin()->second;
    static_cast<void>(removed_or_hopeless(last.group));
    stop_waiting(waiting_.begin()->first);
  }
}

void ControlGroupRemovals::add(ControlGroup group) {
  if (removed_or_hopeless(group)) return;
  const std::uint64_t key = next_key_++;
  auto fresh = std::make_unique<Waiting>(
      Waiting{.group = std::move(group), .until = std::chrono::steady_clock::now() + kPatience});
  Waiting& waiting = *(waiting_[key] = std::move(fresh));
  waiting.events = watch_events(waiting.group);
  if (waiting.events) {
    loop_.watch(waiting.events.get(), POLLIN, [this, key](short) { retry(key); });
  }
  retry_later(key);
  // The last process may have left before there was a watch.
  retry(key);
}

void ControlGroupRemovals::retry(std::uint64_t key) {
  Waiting& waiting = *waiting_.at(key);
  if (waiting.events) drain(waiting.events.get());
  if (removed_or_hopeless(waiting.group)) stop_waiting(key);
}

void ControlGroupRemovals::retry_later(std::uint64_t key) {
  Waiting& waiting = *waiting_.at(key);
  const Instant now = std::chrono::steady_clock::now();
  if (now >= waiting.until) return stop_waiting(key);
  waiting.timer = loop_.at(std::min(now + kPause, waiting.until), [this, key] {
    waiting_.at(key)->timer.reset();
    retry(key);
    if (waiting_.contains(key)) retry_later(key);
  });
}

void ControlGroupRemovals::stop_waiting(std::uint64_t key) {
  const auto found = waiting_.find(key);
  if (found->second->events) loop_.forget(found->second->events.get());
  if (found->second->timer) loop_.cancel(*found->second->timer);
  waiting_.erase(found);
}

}  // namespace loom::host
