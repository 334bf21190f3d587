#include "host/exit_status.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <cstdlib>
#include <string>

#include "process_support.h"

namespace loom::host {
namespace {

TEST(ExitStatusTest, ARunningChildHasNoStatus) {
  const auto child = spawn(probe({"sleep"}));
  ASSERT_TRUE(child);

  const auto status = reap_if_ended(child->pidfd.get());

  ASSERT_TRUE(status);
  EXPECT_FALSE(status->has_value());
  ::kill(child->pid, SIGKILL);
  wait_for(child->pidfd.get());
}

TEST(ExitStatusTest, ACodeIsACodeAndASignalIs128More) {
  const auto exits = spawn(probe({"exit", "137"}));
  const auto dies = spawn(probe({"sleep"}));
  ASSERT_TRUE(exits && dies);
  ::kill(dies->pid, SIGKILL);

  const ExitStatus by_code = wait_for(exits->pidfd.get());
  const ExitStatus by_signal = wait_for(dies->pidfd.get());

  EXPECT_EQ(by_code.code, 137);
  EXPECT_EQ(by_code.signal, 0);
  EXPECT_EQ(by_signal.code, 137);
  EXPECT_EQ(by_signal.signal, SIGKILL);
}

TEST(ExitStatusTest, ReapingTwiceIsAnError) {
  const auto child = spawn(probe({"exit", "0"}));
  ASSERT_TRUE(child);
  wait_for(child->pidfd.get());

  const auto again = reap_if_ended(child->pidfd.get());

  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().sys_errno, ECHILD);
}

bool kernel_says_how_others_ended() { return kernel_is_at_least(6, 15); }

// How a grandchild of ours ended, seen only through its pidfd.
std::optional<ExitStatus> end_of_grandchild(const std::string& how) {
  Pipe in = make_pipe();
  Pipe out = make_pipe();
  SpawnRequest request = probe({"parent-of-one", how});
  request.moves = {{.from = in.read.get(), .to = 0}, {.from = out.write.get(), .to = 1}};
  const auto child = spawn(request);
  if (!child || child->failure) return std::nullopt;
  char line[32] = {};
  if (::read(out.read.get(), line, sizeof line - 1) <= 0) return std::nullopt;
  const auto opened = open_pidfd(std::atoi(line));
  if (!opened) return std::nullopt;
  const UniqueFd pidfd(*opened);
  EXPECT_FALSE(foreign_exit_status(pidfd.get()).has_value()) << "while it lives";
  in.write.reset();
  in.read.reset();
  EXPECT_TRUE(becomes_readable(pidfd.get()));
  EXPECT_EQ(wait_for(child->pidfd.get()).code, 0);
  return foreign_exit_status(pidfd.get());
}

TEST(ExitStatusTest, KilledAndExit137OfAStrangerAreToldApart) {
  if (!kernel_says_how_others_ended()) GTEST_SKIP() << "the kernel is older than 6.15";

  const auto killed = end_of_grandchild("killed");
  const auto exited = end_of_grandchild("137");

  ASSERT_TRUE(killed && exited);
  EXPECT_EQ(killed->code, 137);
  EXPECT_EQ(killed->signal, SIGKILL);
  EXPECT_EQ(exited->code, 137);
  EXPECT_EQ(exited->signal, 0);
}

// Whether what is seen of a child before it is reaped is what its reaping tells; its code.
int code_seen_of_zombie(const SpawnedChild& child, const ForeignEnd& watch) {
  EXPECT_TRUE(becomes_readable(child.pidfd.get()));
  const auto seen = watch.status(child.pidfd.get());
  const ExitStatus end = wait_for(child.pidfd.get());
  EXPECT_FALSE(watch.status(child.pidfd.get())) << "after it was reaped";
  if (!seen) return -1;
  EXPECT_EQ(seen->code, end.code);
  EXPECT_EQ(seen->signal, end.signal);
  return seen->code;
}

TEST(ExitStatusTest, AZombiesEndIsWhatItsParentWillLearn) {
  for (const char* code : {"0", "7"}) {
    const auto exits = spawn(probe({"exit", code}));
    ASSERT_TRUE(exits);
    const auto watch = ForeignEnd::watch(exits->pid, ::getpid());
    ASSERT_TRUE(watch);
    EXPECT_EQ(code_seen_of_zombie(*exits, *watch), std::atoi(code));
  }
  const auto dies = spawn(probe({"sleep"}));
  ASSERT_TRUE(dies);
  const auto watch = ForeignEnd::watch(dies->pid, ::getpid());
  ASSERT_TRUE(watch);
  EXPECT_FALSE(watch->status(dies->pidfd.get())) << "while it lives";
  ::kill(dies->pid, SIGKILL);
  EXPECT_EQ(code_seen_of_zombie(*dies, *watch), 137);
}

TEST(ExitStatusTest, AProcessEndsAsItsLastThreadSaysAndNotAsItsMainThreadDid) {
  Pipe in = make_pipe();
  Pipe out = make_pipe();
  SpawnRequest request = probe({"outlive-main", "3"});
  request.moves = {{.from = in.read.get(), .to = 0}, {.from = out.write.get(), .to = 1}};
  const auto child = spawn(request);
  ASSERT_TRUE(child && !child->failure);
  const auto watch = ForeignEnd::watch(child->pid, ::getpid());
  ASSERT_TRUE(watch);
  char line[4] = {};
  ASSERT_GT(::read(out.read.get(), line, sizeof line), 0);
  EXPECT_FALSE(watch->status(child->pidfd.get())) << "only its main thread has ended";
  in.write.reset();
  EXPECT_EQ(code_seen_of_zombie(*child, *watch), 3);
}

TEST(ExitStatusTest, WhoeverIsLeftBehindIsSeen) {
  const auto first = spawn(probe({"sleep"}));
  ASSERT_TRUE(first);
  const auto watch = ForeignEnd::watch(first->pid, ::getpid());
  ASSERT_TRUE(watch);
  EXPECT_FALSE(watch->left_nobody(first->pidfd.get())) << "it lives";
  const auto second = spawn(probe({"sleep"}));
  ASSERT_TRUE(second);
  const auto end = [](const SpawnedChild& child) {
    ::kill(child.pid, SIGKILL);
    EXPECT_TRUE(becomes_readable(child.pidfd.get()));
  };

  end(*first);
  EXPECT_FALSE(watch->left_nobody(first->pidfd.get())) << "the other one lives";
  end(*second);
  EXPECT_FALSE(watch->left_nobody(first->pidfd.get())) << "the other one is a zombie";
  wait_for(second->pidfd.get());
  EXPECT_TRUE(watch->left_nobody(first->pidfd.get())) << "only the watched zombie is left";
  wait_for(first->pidfd.get());
  EXPECT_TRUE(watch->left_nobody(first->pidfd.get())) << "nobody is left";
}

TEST(ExitStatusTest, TheLineOfAStrangerTellsItsEndBeforeTheReapingAndItsDescriptorAfterIt) {
  for (const int code : {3, 0, 128 + SIGKILL}) {
    SCOPED_TRACE(code);
    const auto child = spawn(code < 128 ? probe({"exit", std::to_string(code)}) : probe({"sleep"}));
    ASSERT_TRUE(child && !child->failure);
    const auto stat = ForeignStat::open(child->pid);
    ASSERT_TRUE(stat);
    if (code > 128) {
      EXPECT_FALSE(stat->end_of_only_thread(child->pidfd.get())) << "it lives";
      EXPECT_NE(stat->state(), 'Z');
      ::kill(child->pid, SIGKILL);
    }
    ASSERT_TRUE(becomes_readable(child->pidfd.get()));

    const auto zombie = stat->end_of_only_thread(child->pidfd.get());
    const char state = stat->state();
    wait_for(child->pidfd.get());
    const auto reaped = stat->end_of_only_thread(child->pidfd.get());

    EXPECT_EQ(state, 'Z');
    EXPECT_EQ(stat->state(), '\0');
    EXPECT_EQ(reaped.has_value(), kernel_says_how_others_ended());
    // Older kernels show a 0 to everybody, so that it says nothing.
    EXPECT_TRUE(zombie || (code == 0 && !kernel_says_how_others_ended()));
    for (const auto& end : {zombie, reaped}) {
      if (!end) continue;
      EXPECT_EQ(end->code, code);
      EXPECT_EQ(end->signal, code > 128 ? SIGKILL : 0);
    }
  }
}

// Its child becomes ours in the moment it ends: a list that was read before does not name it.
TEST(ExitStatusTest, WhatAProcessLeavesBehindIsNeverMissed) {
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
  for (int round = 0; round < 100; ++round) {
    Pipe in = make_pipe();
    Pipe out = make_pipe();
    SpawnRequest request = probe({"parent-of-one", "0"});
    request.moves = {{.from = in.read.get(), .to = 0}, {.from = out.write.get(), .to = 1}};
    const auto parent = spawn(request);
    ASSERT_TRUE(parent && !parent->failure);
    char line[32] = {};
    ASSERT_GT(::read(out.read.get(), line, sizeof line - 1), 0);
    const auto watch = ForeignEnd::watch(parent->pid, ::getpid());
    ASSERT_TRUE(watch);

    ::kill(parent->pid, SIGKILL);
    bool missed = false;
    pollfd end{.fd = parent->pidfd.get(), .events = POLLIN, .revents = 0};
    for (bool ended = false; !ended && !missed;) {
      ended = ::poll(&end, 1, 0) == 1;
      missed = watch->left_nobody(parent->pidfd.get());
    }

    EXPECT_FALSE(missed) << "in round " << round;
    wait_for(parent->pidfd.get());
    in.write.reset();
    in.read.reset();
    EXPECT_EQ(::waitpid(std::atoi(line), nullptr, 0), std::atoi(line));
    if (missed) break;
  }
  ::prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
}

TEST(ExitStatusTest, ARunningProcessThatNobodyReapedYetIsNoReasonToCallTheOthersGone) {
  const auto first = spawn(probe({"exit", "0"}));
  ASSERT_TRUE(first);
  const auto watch = ForeignEnd::watch(first->pid, ::getpid());
  ASSERT_TRUE(watch);
  wait_for(first->pidfd.get());
  const auto later = spawn(probe({"sleep"}));
  ASSERT_TRUE(later);

  EXPECT_FALSE(watch->left_nobody(first->pidfd.get()));
  ::kill(later->pid, SIGKILL);
  wait_for(later->pidfd.get());
}

TEST(ExitStatusTest, NobodyWatchesAProcessThatIsGoneOrNotItsParentsOnlyChild) {
  const auto child = spawn(probe({"sleep"}));
  const auto other = spawn(probe({"sleep"}));
  ASSERT_TRUE(child && other);
  EXPECT_FALSE(ForeignEnd::watch(child->pid, ::getpid())) << "there is another one";
  EXPECT_FALSE(ForeignEnd::watch(child->pid, other->pid)) << "that is not its parent";
  for (const auto* one : {&*child, &*other}) {
    ::kill(one->pid, SIGKILL);
    wait_for(one->pidfd.get());
  }

  EXPECT_FALSE(ForeignEnd::watch(child->pid, ::getpid())) << "it is gone";
}

TEST(ExitStatusTest, TheParentOfAStrangerIsKnown) {
  const auto child = spawn(probe({"sleep"}));
  ASSERT_TRUE(child);

  const auto parent = parent_of(child->pidfd.get());
  EXPECT_TRUE(parent || !kernel_says_how_others_ended()) << "an older kernel may say nothing";
  EXPECT_EQ(parent.value_or(::getpid()), ::getpid());
  ::kill(child->pid, SIGKILL);
  wait_for(child->pidfd.get());
  EXPECT_FALSE(parent_of(child->pidfd.get())) << "of a process that is gone";
}

TEST(ExitStatusTest, ADescriptorThatIsNoProcessSaysNothing) {
  const Pipe pipe = make_pipe();

  EXPECT_FALSE(foreign_exit_status(pipe.read.get()).has_value());
  EXPECT_FALSE(reap_if_ended(pipe.read.get()));
}

}  // namespace
}  // namespace loom::host
