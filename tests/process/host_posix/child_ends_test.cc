// Without a descriptor of a process: SIGCHLD says that something may have ended, and whoever it
// wakes asks.

#include "host/posix/child_ends.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <string>
#include <vector>

#include "host/event_loop.h"
#include "host/exit_status.h"
#include "process_support.h"

namespace loom::host {
namespace {

SpawnedChild started(std::vector<std::string> words) {
  auto child = spawn(probe(std::move(words)));
  if (!child || child->failure) {
    ADD_FAILURE() << "the child does not start";
    std::abort();
  }
  return std::move(*child);
}

// A child of this process that the host knows nothing of.
pid_t unrelated_child() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  return child;
}

void end(const SpawnedChild& child) {
  ::kill(child.pid, SIGKILL);
  wait_for(child.pidfd.get());
}

TEST(ChildEndsTest, AnUnrelatedChildWakesAndEndsNothing) {
  const SpawnedChild child = started({"sleep"});
  ASSERT_FALSE(becomes_readable(child.pidfd.get(), 0));

  const pid_t other = unrelated_child();
  ASSERT_TRUE(becomes_readable(child.pidfd.get()));
  ASSERT_EQ(::waitpid(other, nullptr, 0), other);

  const auto ended = has_ended(child.pidfd.get());
  ASSERT_TRUE(ended);
  EXPECT_FALSE(*ended);
  const auto reaped = reap_if_ended(child.pidfd.get());
  ASSERT_TRUE(reaped);
  EXPECT_FALSE(reaped->has_value());
  EXPECT_FALSE(becomes_readable(child.pidfd.get(), 50)) << "asking took what woke us";
  EXPECT_EQ(::kill(child.pid, 0), 0);
  end(child);
}

TEST(ChildEndsTest, AskingDoesNotReapAndReapingDoes) {
  const SpawnedChild child = started({"exit", "7"});
  ASSERT_TRUE(becomes_readable(child.pidfd.get()));

  for (int i = 0; i < 3; ++i) {
    const auto ended = has_ended(child.pidfd.get());
    ASSERT_TRUE(ended);
    EXPECT_TRUE(*ended);
    EXPECT_EQ(::kill(child.pid, 0), 0) << "its number is still its own";
  }

  const auto status = reap_if_ended(child.pidfd.get());
  ASSERT_TRUE(status && *status);
  EXPECT_EQ((*status)->code, 7);
  EXPECT_EQ((*status)->signal, 0);
  EXPECT_NE(::kill(child.pid, 0), 0);
  EXPECT_TRUE(becomes_readable(child.pidfd.get(), 0)) << "an end stays an end";
  EXPECT_EQ(has_ended(child.pidfd.get()).error().sys_errno, ECHILD);
  EXPECT_EQ(reap_if_ended(child.pidfd.get()).error().sys_errno, ECHILD);
}

TEST(ChildEndsTest, ACodeIsACodeAndASignalIs128More) {
  const SpawnedChild exits = started({"exit", "137"});
  const SpawnedChild dies = started({"sleep"});
  ::kill(dies.pid, SIGKILL);

  const ExitStatus by_code = wait_for(exits.pidfd.get());
  const ExitStatus by_signal = wait_for(dies.pidfd.get());

  EXPECT_EQ(by_code.code, 137);
  EXPECT_EQ(by_code.signal, 0);
  EXPECT_EQ(by_signal.code, 137);
  EXPECT_EQ(by_signal.signal, SIGKILL);
}

TEST(ChildEndsTest, AStoppedChildHasNotEnded) {
  const SpawnedChild child = started({"sleep"});

  ::kill(child.pid, SIGSTOP);
  siginfo_t stopped{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child.pid), &stopped, WSTOPPED | WNOWAIT), 0);

  EXPECT_FALSE(becomes_readable(child.pidfd.get(), 50));
  const auto ended = has_ended(child.pidfd.get());
  ASSERT_TRUE(ended);
  EXPECT_FALSE(*ended);
  end(child);
}

// Each holder has a wake-up of his own: who looks first takes no other's away.
TEST(ChildEndsTest, WhoeverLooksFirstTakesNoOthersWakeUp) {
  const SpawnedChild first = started({"sleep"});
  const SpawnedChild second = started({"sleep"});

  ::kill(second.pid, SIGKILL);
  ASSERT_TRUE(becomes_readable(first.pidfd.get()));
  EXPECT_FALSE(*has_ended(first.pidfd.get()));

  EXPECT_TRUE(becomes_readable(second.pidfd.get(), 0));
  EXPECT_EQ(wait_for(second.pidfd.get()).signal, SIGKILL);
  end(first);
}

TEST(ChildEndsTest, AnEndInTheEventLoopReachesItsOwnHandlerOnly) {
  EventLoop loop;
  const SpawnedChild lasts = started({"sleep"});
  const SpawnedChild ends = started({"exit", "3"});
  int ended_handlers = 0;
  bool ended = false;
  for (const SpawnedChild* child : {&lasts, &ends}) {
    loop.watch(child->pidfd.get(), POLLIN, [&, child](short) {
      if (!*has_ended(child->pidfd.get())) return;
      ++ended_handlers;
      ended = child == &ends;
      loop.forget(child->pidfd.get());
    });
  }

  while (!ended) ASSERT_TRUE(loop.run_once());

  EXPECT_EQ(ended_handlers, 1);
  EXPECT_EQ(wait_for(ends.pidfd.get()).code, 3);
  end(lasts);
}

TEST(ChildEndsTest, AHundredRunsLeaveNoDescriptor) {
  ASSERT_EQ(wait_for(started({"exit", "0"}).pidfd.get()).code, 0);
  const std::size_t before = open_descriptors();

  for (int i = 0; i < 100; ++i) {
    const SpawnedChild child = started({"exit", std::to_string(i)});
    ASSERT_EQ(wait_for(child.pidfd.get()).code, i);
  }

  EXPECT_EQ(open_descriptors(), before);
}

// A holder may go away before its child does, and somebody else may reap.
TEST(ChildEndsTest, WatchesThatNobodyHoldsAreGivenUp) {
  const std::size_t before = open_descriptors();
  for (int i = 0; i < 200; ++i) {
    SpawnedChild child = started({"exit", "0"});
    if (i % 2 == 0) child.pidfd.reset();
    ASSERT_EQ(::waitpid(child.pid, nullptr, 0), child.pid);
  }

  const SpawnedChild last = started({"exit", "5"});

  EXPECT_EQ(wait_for(last.pidfd.get()).code, 5);
  EXPECT_LE(open_descriptors(), before + 2 * kDescriptorsOfAChild);
}

// Its number may be the next descriptor's by the time of the question.
TEST(ChildEndsTest, ANumberThatIsAnothersNowStandsForNoChild) {
  SpawnedChild child = started({"exit", "0"});
  const int number = child.pidfd.get();
  child.pidfd.reset();
  const Pipe pipe = make_pipe();
  const UniqueFd another(::fcntl(pipe.read.get(), F_DUPFD_CLOEXEC, number));
  ASSERT_TRUE(another.get() == number || pipe.read.get() == number || pipe.write.get() == number);

  EXPECT_FALSE(watched_child(number).has_value());
  EXPECT_EQ(has_ended(number).error().sys_errno, ECHILD);
  ::waitpid(child.pid, nullptr, 0);
}

TEST(ChildEndsTest, AChildThatEndedBeforeAnybodyWatchedIsNoticed) {
  const pid_t child = unrelated_child();
  siginfo_t end{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &end, WEXITED | WNOWAIT), 0);

  const auto opened = open_pidfd(child);

  ASSERT_TRUE(opened) << opened.error().message;
  const UniqueFd watch(*opened);
  EXPECT_EQ(wait_for(watch.get()).code, 0);
}

TEST(ChildEndsTest, OnlyChildrenCanBeWatched) {
  for (const int pid : {0, -1, 1}) {
    const auto opened = open_pidfd(pid);
    ASSERT_FALSE(opened) << pid;
    EXPECT_EQ(opened.error().code, ErrorCode::kUnsupported);
  }
}

TEST(ChildEndsTest, NothingIsExecutedByHandleHere) {
  const UniqueFd image(::open(LOOM_CHILD_PROBE, O_RDONLY | O_CLOEXEC));
  SpawnRequest request = probe({"exit", "0"});
  request.image_fd = image.get();
  const std::size_t before = open_descriptors();

  const auto child = spawn(request);

  ASSERT_FALSE(child);
  EXPECT_EQ(child.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(open_descriptors(), before);
}

// Stopped by somebody else before it executed, which its parent does not see otherwise.
TEST(ChildEndsTest, AChildThatNeverExecutesIsKilledAndAnError) {
  static pid_t made = -1;
  Syscalls syscalls = real_syscalls();
  syscalls.clone = [](int (*)(void*), void*, int, void*, int*) -> pid_t {
    made = ::fork();
    if (made == 0) {
      for (;;) ::pause();
    }
    return made;
  };
  const std::size_t before = open_descriptors();

  const auto child = spawn(probe({"exit", "0"}), syscalls);

  ASSERT_FALSE(child);
  EXPECT_EQ(::waitpid(made, nullptr, WNOHANG), -1) << "it is still there";
  EXPECT_EQ(open_descriptors(), before);
}

}  // namespace
}  // namespace loom::host
