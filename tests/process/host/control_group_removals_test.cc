#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "control_group_support.h"
#include "host/control_group.h"

namespace loom::host {
namespace {

using namespace std::chrono_literals;

Instant now() { return std::chrono::steady_clock::now(); }

// Runs the loop until `condition` holds, or 20 s have passed.
template <class Condition>
bool run_until(EventLoop& loop, const Condition& condition) {
  const Instant end = now() + 20s;
  while (!condition()) {
    if (now() > end) return false;
    const EventLoop::TimerId awake = loop.at(now() + 100ms, [] {});
    if (!loop.run_once()) return false;
    loop.cancel(awake);
  }
  return true;
}

void run_for(EventLoop& loop, std::chrono::milliseconds span) {
  const Instant end = now() + span;
  static_cast<void>(run_until(loop, [end] { return now() >= end; }));
}

class RemovalsTest : public RealControlGroupTest {
 protected:
  // A group with this child in it.
  ControlGroup entered(const WaitingChild& child) const {
    auto group = make_and_enter(top_, 7, child.pid(), {});
    EXPECT_TRUE(group) << group.error().message;
    return std::move(group).value();
  }
  static bool there(const std::string& path) { return std::filesystem::exists(path); }

  EventLoop loop_;
};

TEST_F(RemovalsTest, AnEmptyGroupIsGoneAtOnce) {
  ControlGroupRemovals removals(loop_);
  auto group = ControlGroup::make(top_, 7, 42, {});
  ASSERT_TRUE(group) << group.error().message;
  const std::string path = group->path();

  removals.add(std::move(*group));

  EXPECT_TRUE(removals.empty());
  EXPECT_FALSE(there(path));
}

// cases.md 198 (the half of it that is not the frame)
TEST_F(RemovalsTest, APopulatedGroupGoesWhenItsLastProcessHasEnded) {
  ControlGroupRemovals removals(loop_);
  WaitingChild child;
  ControlGroup group = entered(child);
  const std::string path = group.path();

  removals.add(std::move(group));
  run_for(loop_, 200ms);
  EXPECT_FALSE(removals.empty());
  EXPECT_TRUE(there(path));

  child.end();
  EXPECT_TRUE(run_until(loop_, [&] { return removals.empty(); }));
  EXPECT_FALSE(there(path));
}

TEST_F(RemovalsTest, GroupsThatWaitTogetherGoEachInItsTime) {
  ControlGroupRemovals removals(loop_);
  WaitingChild first;
  WaitingChild second;
  ControlGroup one = entered(first);
  ControlGroup other = entered(second);
  const std::string path_one = one.path();
  const std::string path_other = other.path();
  removals.add(std::move(one));
  removals.add(std::move(other));

  second.end();
  EXPECT_TRUE(run_until(loop_, [&] { return !there(path_other); }));
  EXPECT_TRUE(there(path_one));
  EXPECT_FALSE(removals.empty());

  first.end();
  EXPECT_TRUE(run_until(loop_, [&] { return removals.empty(); }));
  EXPECT_FALSE(there(path_one));
}

TEST_F(RemovalsTest, PatienceEndsAndTheGroupIsLeftToASweep) {
  ControlGroupRemovals removals(loop_);
  WaitingChild child;
  ControlGroup group = entered(child);
  const std::string path = group.path();

  const Instant began = now();
  removals.add(std::move(group));
  EXPECT_TRUE(run_until(loop_, [&] { return removals.empty(); }));

  EXPECT_GE(now() - began, ControlGroupRemovals::kPatience);
  EXPECT_TRUE(there(path));
}

TEST_F(RemovalsTest, TheLastTryIsAtTheEndAndLeavesTheLoopClean) {
  auto removals = std::make_unique<ControlGroupRemovals>(loop_);
  WaitingChild ending;
  WaitingChild staying;
  ControlGroup one = entered(ending);
  ControlGroup other = entered(staying);
  const std::string path_one = one.path();
  const std::string path_other = other.path();
  removals->add(std::move(one));
  removals->add(std::move(other));
  const std::size_t open_while_waiting = open_descriptors();

  ending.end();
  ASSERT_TRUE(becomes_empty(path_one));
  removals.reset();

  EXPECT_FALSE(there(path_one));
  EXPECT_TRUE(there(path_other));
  EXPECT_LT(open_descriptors(), open_while_waiting);
  run_for(loop_, 150ms);  // no timer and no descriptor of the removals is left to fire
}

// What waits for an event of the kernel does not wait for the next try.
TEST_F(RemovalsTest, TheKernelsEventWakesTheLoopBeforeTheTimerDoes) {
  static int polls = 0;
  static int woken_by_descriptor = 0;
  Syscalls counting = real_syscalls();
  counting.poll = [](pollfd* fds, nfds_t count, int timeout_ms) {
    const int ready = real_syscalls().poll(fds, count, timeout_ms);
    ++polls;
    woken_by_descriptor += ready > 0 ? 1 : 0;
    return ready;
  };
  EventLoop loop(counting);
  ControlGroupRemovals removals(loop);
  // Once is enough: on a loaded machine the timer may be first.
  for (int round = 0; round < 50 && woken_by_descriptor == 0; ++round) {
    WaitingChild child;
    ControlGroup group = entered(child);
    removals.add(std::move(group));
    child.end();
    ASSERT_TRUE(run_until(loop, [&] { return removals.empty(); }));
  }
  EXPECT_GT(woken_by_descriptor, 0) << "in " << polls << " polls";
}

}  // namespace
}  // namespace loom::host
