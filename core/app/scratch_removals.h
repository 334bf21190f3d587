#pragma once

#include <chrono>
#include <deque>
#include <optional>

#include "app/session.h"
#include "host/event_loop.h"
#include "host/private_scratch.h"

namespace loom::app {

// Removes what is left of private scratches after their runs were answered for: piece by piece,
// between which frames, output and the next run get their turn. What stays is logged by name.
class ScratchRemovals {
 public:
  static constexpr std::chrono::seconds kPatience{60};  // with each
  static constexpr std::size_t kMostWaiting = 64;       // each holds two descriptors

  // Both are borrowed and outlive this.
  ScratchRemovals(host::EventLoop& loop, Session& session) : loop_(loop), session_(session) {}
  ScratchRemovals(const ScratchRemovals&) = delete;
  ScratchRemovals& operator=(const ScratchRemovals&) = delete;
  ScratchRemovals(ScratchRemovals&&) = delete;
  ScratchRemovals& operator=(ScratchRemovals&&) = delete;
  ~ScratchRemovals();  // what still waits is the caretaker's to remove

  // Gives up the oldest where too many wait.
  void add(host::ScratchRemoval removal);
  // For whoever waits for nothing else any more, after each wake-up: whether all is done. Gives up
  // what is left kScratchRemovalLimit after the first call.
  [[nodiscard]] bool joined();
  // Whether something could not be removed, so far.
  [[nodiscard]] bool left_any() const noexcept { return left_any_; }

 private:
  struct Waiting {
    host::ScratchRemoval removal;
    std::chrono::steady_clock::time_point until;
  };
  void go_on_soon();
  void go_on();
  void end_first();

  host::EventLoop& loop_;
  Session& session_;
  std::deque<Waiting> waiting_;
  std::optional<host::EventLoop::TimerId> timer_;
  std::optional<std::chrono::steady_clock::time_point> join_until_;
  bool left_any_ = false;
};

}  // namespace loom::app
