#include "host/spawn.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <fstream>
#include <string>

#include "process_support.h"

namespace loom::host {
namespace {

TEST(SpawnTest, TheImageSeesExactlyTheMovedDescriptors) {
  const UniqueFd inheritable(::dup(0));  // not close-on-exec, as a careless library would leave it
  const Pipe other = make_pipe();
  SpawnRequest request = probe({"descriptors"});
  request.moves = {{.from = other.read.get(), .to = 7}, {.from = other.read.get(), .to = 12}};

  EXPECT_EQ(output_of(request), "1 7 12 ");
}

TEST(SpawnTest, AMovedDescriptorLeadsWhereItsSourceDid) {
  Pipe first = make_pipe();
  Pipe second = make_pipe();
  ASSERT_EQ(::write(first.write.get(), "one", 3), 3);
  ASSERT_EQ(::write(second.write.get(), "two", 3), 3);
  SpawnRequest request = probe({"repeat", "3", "4"});
  request.moves = {{.from = first.read.get(), .to = 3}, {.from = second.read.get(), .to = 4}};

  EXPECT_EQ(output_of(request), "3=one 4=two ");
}

TEST(SpawnTest, SourcesThatAreEachOthersTargetsAreExchanged) {
  Pipe first = make_pipe();
  Pipe second = make_pipe();
  ASSERT_EQ(::write(first.write.get(), "one", 3), 3);
  ASSERT_EQ(::write(second.write.get(), "two", 3), 3);
  const int a = first.read.get();
  const int b = second.read.get();
  SpawnRequest request = probe({"repeat", std::to_string(a), std::to_string(b)});
  request.moves = {{.from = a, .to = b}, {.from = b, .to = a}};

  EXPECT_EQ(output_of(request), std::to_string(a) + "=two " + std::to_string(b) + "=one ");
}

TEST(SpawnTest, ASourceMayStayAtItsNumber) {
  Pipe pipe = make_pipe();
  ASSERT_EQ(::write(pipe.write.get(), "x", 1), 1);
  const std::string number = std::to_string(pipe.read.get());
  SpawnRequest request = probe({"repeat", number});
  request.moves = {{.from = pipe.read.get(), .to = pipe.read.get()}};

  EXPECT_EQ(output_of(request), number + "=x ");
}

TEST(SpawnTest, TargetsMayCoverTheReportPipe) {
  Pipe pipe = make_pipe();
  SpawnRequest request = probe({"descriptors"});
  std::string expected = "1 ";
  for (int number = 3; number < 40; ++number) {
    request.moves.push_back({.from = pipe.read.get(), .to = number});
    expected += std::to_string(number) + ' ';
  }

  EXPECT_EQ(output_of(request), expected);
}

TEST(SpawnTest, ATargetNumberTwiceIsRefused) {
  SpawnRequest request = probe({"descriptors"});
  request.moves = {{.from = 0, .to = 5}, {.from = 1, .to = 5}};

  const auto child = spawn(request);

  ASSERT_FALSE(child);
  EXPECT_EQ(child.error().code, ErrorCode::kInvalidRequest);
}

TEST(SpawnTest, AWordWithANulIsRefused) {
  SpawnRequest request = probe({std::string("a\0b", 3)});

  const auto child = spawn(request);

  ASSERT_FALSE(child);
  EXPECT_EQ(child.error().code, ErrorCode::kInvalidRequest);
}

// Ignores, handles and blocks signals for its lifetime.
class OddSignals {
 public:
  OddSignals() {
    ::signal(SIGPIPE, SIG_IGN);
    ::signal(SIGRTMIN + 3, SIG_IGN);
    ::signal(SIGUSR1, [](int) {});
    sigset_t some;
    ::sigemptyset(&some);
    ::sigaddset(&some, SIGTERM);
    ::sigaddset(&some, SIGRTMAX);
    ::sigprocmask(SIG_SETMASK, &some, &before_);
  }
  ~OddSignals() {
    ::signal(SIGPIPE, SIG_DFL);
    ::signal(SIGRTMIN + 3, SIG_DFL);
    ::signal(SIGUSR1, SIG_DFL);
    ::sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
  OddSignals(const OddSignals&) = delete;
  OddSignals& operator=(const OddSignals&) = delete;
  OddSignals(OddSignals&&) = delete;
  OddSignals& operator=(OddSignals&&) = delete;

 private:
  sigset_t before_{};
};

TEST(SpawnTest, TheImageStartsWithDefaultSignalsAndAnEmptyMask) {
  const OddSignals odd;
  const std::string none = "0000000000000000 ";

  EXPECT_EQ(output_of(probe({"signals"})), none + none + none);
}

TEST(SpawnTest, WhoAskedForTheSignalsHasThemReset) {
  const OddSignals odd;
  const std::string none = "0000000000000000 ";
  SpawnRequest request = probe({"signals"});
  request.signals = signals_with_dispositions();

  EXPECT_EQ(output_of(request), none + none + none);
}

TEST(SpawnTest, ASignalLeftToItsDefaultIsNotAskedFor) {
  const auto has = [](SignalSet set, int signal) { return (set >> (signal - 1) & 1U) != 0; };
  const SignalSet before = signals_with_dispositions();
  EXPECT_FALSE(has(before, SIGUSR1));
  EXPECT_FALSE(has(before, SIGRTMIN + 3));
  EXPECT_TRUE(has(before, SIGALRM)) << "taken for a moment";

  const OddSignals odd;
  const SignalSet after = signals_with_dispositions();
  EXPECT_TRUE(has(after, SIGUSR1));
  EXPECT_TRUE(has(after, SIGRTMIN + 3));
}

TEST(SpawnTest, TheParentsSignalsAreAsBefore) {
  const OddSignals odd;

  ASSERT_NE(output_of(probe({"session"})), "");

  sigset_t mask;
  ::sigprocmask(SIG_SETMASK, nullptr, &mask);
  EXPECT_EQ(::sigismember(&mask, SIGTERM), 1);
  EXPECT_EQ(::sigismember(&mask, SIGUSR1), 0);
  struct sigaction action {};
  ::sigaction(SIGPIPE, nullptr, &action);
  EXPECT_EQ(action.sa_handler, SIG_IGN);
  ::sigaction(SIGUSR1, nullptr, &action);
  EXPECT_NE(action.sa_handler, SIG_DFL);
}

TEST(SpawnTest, TheImageLeadsItsOwnSessionAndGroup) {
  EXPECT_EQ(output_of(probe({"session"})), "11");
}

TEST(SpawnTest, DirectoryAndLimitsAreTheImagesAlone) {
  const TemporaryDirectory directory;
  SpawnRequest request = probe({"place"});
  request.directory = directory.str();
  request.limits = {{.resource = RLIMIT_FSIZE, .soft = 4'096, .hard = 8'192}};
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);

  EXPECT_EQ(output_of(request), directory.str() + " 4096 8192");

  rlimit after{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &after), 0);
  EXPECT_EQ(after.rlim_cur, before.rlim_cur);
  EXPECT_NE(std::filesystem::current_path(), directory.str());
}

TEST(SpawnTest, ArgumentsAndEnvironmentArriveAsGivenAndNothingElse) {
  SpawnRequest request = probe({"words", "", "two words"});
  request.environment = {"A=1", "B="};

  EXPECT_EQ(output_of(request), "probe|words||two words|A=1|B=|");
}

struct FailureCase {
  const char* why;
  std::vector<std::string> candidates;
  ChildStep step;
  int error;
};

TEST(SpawnTest, AnImageThatIsNotExecutedIsReportedWithStepAndErrno) {
  const TemporaryDirectory directory;
  const std::string text = directory / "text";
  std::ofstream(text) << "no header\n";
  ASSERT_EQ(::chmod(text.c_str(), 0755), 0);
  const std::string missing = directory / "missing";
  const std::string below_a_file = text + "/x";
  const FailureCase cases[] = {
      {"nothing there", {missing, below_a_file}, ChildStep::kExecute, ENOENT},
      {"no candidate at all", {}, ChildStep::kExecute, ENOENT},
      {"a refusal is remembered", {directory.str(), missing}, ChildStep::kExecute, EACCES},
      {"no shell takes over", {text, LOOM_CHILD_PROBE}, ChildStep::kExecute, ENOEXEC},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.why);
    SpawnRequest request = probe({"exit", "0"});
    request.candidates = one.candidates;

    const auto child = spawn(request);

    ASSERT_TRUE(child) << child.error().message;
    ASSERT_TRUE(child->failure.has_value());
    EXPECT_EQ(child->failure->step, one.step);
    EXPECT_EQ(child->failure->error, one.error);
    EXPECT_EQ(wait_for(child->pidfd.get()).code, 126);
  }
}

TEST(SpawnTest, TheFirstCandidateThatExistsDecides) {
  SpawnRequest request = probe({"session"});
  request.candidates = {"/no/such/directory/probe", LOOM_CHILD_PROBE, "/bin/false"};

  EXPECT_EQ(output_of(request), "11");
}

TEST(SpawnTest, AMissingDirectoryIsItsOwnStep) {
  SpawnRequest request = probe({"exit", "0"});
  request.directory = "/no/such/directory";

  const auto child = spawn(request);

  ASSERT_TRUE(child);
  ASSERT_TRUE(child->failure.has_value());
  EXPECT_EQ(child->failure->step, ChildStep::kDirectory);
  EXPECT_EQ(child->failure->error, ENOENT);
  EXPECT_EQ(wait_for(child->pidfd.get()).code, 126);
}

TEST(SpawnTest, ALimitThatCannotBeSetStopsTheChild) {
  SpawnRequest request = probe({"exit", "0"});
  request.limits = {{.resource = RLIMIT_FSIZE, .soft = 2, .hard = 1}};

  const auto child = spawn(request);

  ASSERT_TRUE(child);
  ASSERT_TRUE(child->failure.has_value());
  EXPECT_EQ(child->failure->step, ChildStep::kLimits);
  EXPECT_EQ(child->failure->error, EINVAL);
  EXPECT_EQ(wait_for(child->pidfd.get()).code, 126);
}

TEST(SpawnTest, AForkThatIsRefusedLeavesNothingOpen) {
  Syscalls syscalls = real_syscalls();
  syscalls.clone = [](int (*)(void*), void*, int, void*, int*) -> pid_t {
    errno = EAGAIN;
    return -1;
  };
  SpawnRequest request = probe({"exit", "0"});
  request.moves = {{.from = 0, .to = 9}};
  const std::size_t before = open_descriptors();

  const auto child = spawn(request, syscalls);

  ASSERT_FALSE(child);
  EXPECT_EQ(child.error().code, ErrorCode::kSystem);
  EXPECT_EQ(child.error().sys_errno, EAGAIN);
  EXPECT_EQ(open_descriptors(), before);
}

TEST(SpawnTest, ASpawnLeavesOnlyThePidfdOpen) {
  SpawnRequest request = probe({"exit", "3"});
  request.moves = {{.from = 0, .to = 9}};
  const std::size_t before = open_descriptors();

  const auto child = spawn(request);

  ASSERT_TRUE(child);
  EXPECT_EQ(open_descriptors(), before + kDescriptorsOfAChild);
  EXPECT_EQ(::fcntl(child->pidfd.get(), F_GETFD), FD_CLOEXEC);
  EXPECT_EQ(wait_for(child->pidfd.get()).code, 3);
}

TEST(SpawnTest, AChildWhoseParentIsAnotherByNowExecutesNothing) {
  Syscalls syscalls = real_syscalls();
  syscalls.clone = [](int (*entry)(void*), void* stack, int flags, void* argument, int* pidfd) {
    static_cast<ChildSpec*>(argument)->parent = 1;
    return real_syscalls().clone(entry, stack, flags, argument, pidfd);
  };

  const auto child = spawn(probe({"exit", "0"}), syscalls);

  ASSERT_TRUE(child);
  ASSERT_TRUE(child->failure.has_value());
  EXPECT_EQ(child->failure->step, ChildStep::kParentGone);
  EXPECT_EQ(wait_for(child->pidfd.get()).code, 126);
}

}  // namespace
}  // namespace loom::host
