// What spawn can on Linux alone: images by handle, children that die with their
// parent, and children that borrow its memory.

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>

#include <string>

#include "host/spawn.h"
#include "process_support.h"

namespace loom::host {
namespace {

TEST(SpawnTest, TargetsMayCoverTheImageAndTheReportPipe) {
  const UniqueFd image(::open(LOOM_CHILD_PROBE, O_PATH | O_CLOEXEC));
  ASSERT_TRUE(image);
  Pipe pipe = make_pipe();
  SpawnRequest request = probe({"descriptors"});
  request.image_fd = image.get();
  std::string expected = "1 ";
  for (int number = 3; number < 40; ++number) {
    request.moves.push_back({.from = pipe.read.get(), .to = number});
    expected += std::to_string(number) + ' ';
  }

  EXPECT_EQ(output_of(request), expected);
}

TEST(SpawnTest, ASignalThatNobodyAskedToResetIsLeftAlone) {
  const std::string none = "0000000000000000 ";
  SpawnRequest request = probe({"signals"});
  ::signal(SIGUSR2, SIG_IGN);

  request.signals = signals_with_dispositions() & ~(SignalSet{1} << (SIGUSR2 - 1));
  const std::string left = output_of(request);
  request.signals = signals_with_dispositions();
  const std::string reset = output_of(request);
  ::signal(SIGUSR2, SIG_DFL);

  EXPECT_EQ(left, none + "0000000000000800 " + none);
  EXPECT_EQ(reset, none + none + none);
}

// cases.md 195
TEST(SpawnTest, AnImageWhoseParentDiesIsKilled) {
  Pipe out = make_pipe();
  Pipe hold = make_pipe();
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  const pid_t middle = ::fork();
  if (middle == 0) {
    const auto child = spawn(probe({"sleep"}));
    const pid_t pid = child && !child->failure ? child->pid : -1;
    hold.write.reset();
    char byte = 0;
    if (::write(out.write.get(), &pid, sizeof pid) == sizeof pid) {
      (void)!::read(hold.read.get(), &byte, 1);
    }
    ::_exit(0);
  }
  pid_t sleeper = -1;
  ASSERT_EQ(::read(out.read.get(), &sleeper, sizeof sleeper), static_cast<ssize_t>(sizeof sleeper));
  ASSERT_GT(sleeper, 0);
  const auto opened = open_pidfd(sleeper);
  ASSERT_TRUE(opened);
  const UniqueFd pidfd(*opened);
  ASSERT_FALSE(becomes_readable(pidfd.get(), 50));

  hold.write.reset();  // lets the one in the middle go

  ASSERT_EQ(::waitpid(middle, nullptr, 0), middle);
  EXPECT_EQ(wait_for(pidfd.get()).signal, SIGKILL);
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

// The kernel kills everybody who shares the memory of a process that meets its group's ceiling.
TEST(StartGateTest, AHeldChildSharesNoMemoryWithUsWhichAnyOtherDoes) {
  SpawnRequest request = probe({"exit", "0"});
  int flags = -1;
  static int* seen = nullptr;
  seen = &flags;
  Syscalls syscalls = real_syscalls();
  syscalls.clone = [](int (*entry)(void*), void* stack, int given, void* argument, int* pidfd) {
    *seen = given;
    return real_syscalls().clone(entry, stack, given, argument, pidfd);
  };
  const auto plain = spawn(request, syscalls);
  ASSERT_TRUE(plain);
  EXPECT_NE(flags & CLONE_VM, 0);
  request.while_held = [](pid_t) {};
  const auto held = spawn(request, syscalls);
  ASSERT_TRUE(held);
  EXPECT_EQ(flags & CLONE_VM, 0);
  for (const auto& child : {&plain, &held}) {
    EXPECT_EQ(wait_for((*child)->pidfd.get()).code, 0);
  }
}

}  // namespace
}  // namespace loom::host
