#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>

#include <string>

#include "process_support.h"

namespace loom::host {
namespace {

// cases.md 161: nothing runs before the release, and the arguments arrive byte for byte.
TEST(StartGateTest, NothingRunsUntilTheGateIsOpenedAndTheWordsArriveUnchanged) {
  const std::vector<std::string> words = {"words", "two words", "", "$(touch x)", "a;b", "\n"};
  const std::string free_run = output_of(probe(words));
  ASSERT_NE(free_run, "");
  Pipe out = make_pipe();
  SpawnRequest request = probe(words);
  request.moves.push_back({.from = out.write.get(), .to = 1});
  bool spoke_early = true;
  request.while_held = [&](pid_t) { spoke_early = becomes_readable(out.read.get(), 100); };

  const auto child = spawn(request);
  out.write.reset();

  ASSERT_TRUE(child);
  ASSERT_FALSE(child->failure);
  EXPECT_FALSE(spoke_early);
  EXPECT_EQ(read_text(out.read.get()), free_run);
  EXPECT_EQ(wait_for(child->pidfd.get()).code, 0);
}

// cases.md 162: no shell stands at the gate, so nothing in the environment can open it.
TEST(StartGateTest, AnEnvironmentThatRedefinesWordsDoesNotOpenTheGate) {
  Pipe out = make_pipe();
  SpawnRequest request = probe({"exit", "0"});
  request.environment = {"BASH_FUNC_read%%=() { :; }", "ENV=/dev/null", "read=true"};
  request.moves.push_back({.from = out.write.get(), .to = 1});
  bool ended_early = true;
  request.while_held = [&](pid_t pid) {
    const auto pidfd = open_pidfd(pid);
    ASSERT_TRUE(pidfd);
    const UniqueFd held(*pidfd);
    ended_early = becomes_readable(held.get(), 100);
  };

  const auto child = spawn(request);

  ASSERT_TRUE(child);
  EXPECT_FALSE(ended_early);
  EXPECT_EQ(wait_for(child->pidfd.get()).code, 0);
}

// cases.md 163: the helper dies while it holds the child, so nobody opens the gate.
TEST(StartGateTest, AGateThatIsClosedWithoutATokenEndsTheChildWith125AndNothingRan) {
  Pipe out = make_pipe();
  Pipe told = make_pipe();
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  const pid_t helper = ::fork();
  if (helper == 0) {
    SpawnRequest request = probe({"words", "ran"});
    request.moves.push_back({.from = out.write.get(), .to = 1});
    request.while_held = [&](pid_t pid) {
      (void)!::write(told.write.get(), &pid, sizeof pid);
      ::kill(::getpid(), SIGKILL);
    };
    (void)spawn(request).has_value();
    ::_exit(0);
  }
  out.write.reset();
  pid_t held = -1;
  ASSERT_EQ(::read(told.read.get(), &held, sizeof held), static_cast<ssize_t>(sizeof held));
  ASSERT_EQ(::waitpid(helper, nullptr, 0), helper);

  int status = -1;
  ASSERT_EQ(::waitpid(held, &status, 0), held);

  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 125);
  EXPECT_EQ(read_text(out.read.get()), "");
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

// cases.md 164
TEST(StartGateTest, TheProcessThatWasHeldIsTheOneThatRuns) {
  SpawnRequest request = probe({"exit", "0"});
  pid_t held = -1;
  request.while_held = [&](pid_t pid) { held = pid; };

  const auto child = spawn(request);

  ASSERT_TRUE(child);
  EXPECT_EQ(child->pid, held);
  EXPECT_EQ(wait_for(child->pidfd.get()).code, 0);
}

// cases.md 160: of the gate nothing reaches the image.
TEST(StartGateTest, TheImageSeesNoDescriptorOfTheGate) {
  Pipe pipe = make_pipe();
  for (const bool gated : {false, true}) {
    SpawnRequest request = probe({"descriptors"});
    request.moves = {{.from = pipe.read.get(), .to = 7}};
    if (gated) request.while_held = [](pid_t) {};
    EXPECT_EQ(output_of(request), "1 7 ") << "gated: " << gated;
  }
}

TEST(StartGateTest, AHeldChildReportsAnImageThatIsNotThere) {
  SpawnRequest request = probe({"exit", "0"});
  request.candidates = {"/nowhere/at/all"};
  request.while_held = [](pid_t) {};

  const auto child = spawn(request);

  ASSERT_TRUE(child);
  ASSERT_TRUE(child->failure.has_value());
  EXPECT_EQ(child->failure->step, ChildStep::kExecute);
  EXPECT_EQ(child->failure->error, ENOENT);
  EXPECT_EQ(wait_for(child->pidfd.get()).code, 126);
}

TEST(StartGateTest, AChildThatIsKilledWhileItIsHeldIsNoError) {
  SpawnRequest request = probe({"exit", "0"});
  request.while_held = [](pid_t pid) { ::kill(pid, SIGKILL); };

  const auto child = spawn(request);

  ASSERT_TRUE(child);
  EXPECT_EQ(wait_for(child->pidfd.get()).signal, SIGKILL);
}

TEST(StartGateTest, AHeldSpawnLeavesOnlyThePidfdOpenAndTheSignalsAsTheyWere) {
  sigset_t before;
  ASSERT_EQ(::sigprocmask(SIG_SETMASK, nullptr, &before), 0);
  SpawnRequest request = probe({"exit", "3"});
  request.while_held = [](pid_t) {};
  const std::size_t open = open_descriptors();

  const auto child = spawn(request);

  ASSERT_TRUE(child);
  EXPECT_EQ(open_descriptors(), open + kDescriptorsOfAChild);
  sigset_t after;
  ASSERT_EQ(::sigprocmask(SIG_SETMASK, nullptr, &after), 0);
  EXPECT_EQ(sigismember(&after, SIGTERM), sigismember(&before, SIGTERM));
  EXPECT_EQ(wait_for(child->pidfd.get()).code, 3);
}

TEST(StartGateTest, AHeldImageStartsWithDefaultSignalsAndAnEmptyMaskLikeAnyOther) {
  SpawnRequest held = probe({"signals"});
  held.while_held = [](pid_t) {};
  EXPECT_EQ(output_of(held), output_of(probe({"signals"})));
}

// Somebody stops it, or freezes its group, while it is held.
TEST(StartGateTest, AChildThatDoesNotLeaveItsGateIsKilledAndAnError) {
  SpawnRequest request = probe({"exit", "0"});
  UniqueFd held;
  request.while_held = [&](pid_t pid) {
    if (const auto pidfd = open_pidfd(pid)) held.reset(*pidfd);
    ::kill(pid, SIGSTOP);
  };
  const std::size_t open = open_descriptors();

  const auto child = spawn(request);

  ASSERT_FALSE(child);
  EXPECT_NE(child.error().message.find("start gate"), std::string::npos) << child.error().message;
  ASSERT_TRUE(held);
  EXPECT_TRUE(becomes_readable(held.get(), 0)) << "it is still there";
  EXPECT_EQ(open_descriptors(), open + kDescriptorsOfAChild);
}

}  // namespace
}  // namespace loom::host
