#include "host/exit_status.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/utsname.h>

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

bool kernel_says_how_others_ended() {
  utsname name{};
  ::uname(&name);
  char* rest = nullptr;
  const long major = std::strtol(name.release, &rest, 10);
  const long minor = *rest == '.' ? std::strtol(rest + 1, nullptr, 10) : 0;
  return major > 6 || (major == 6 && minor >= 15);
}

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

TEST(ExitStatusTest, ADescriptorThatIsNoProcessSaysNothing) {
  const Pipe pipe = make_pipe();

  EXPECT_FALSE(foreign_exit_status(pipe.read.get()).has_value());
  EXPECT_FALSE(reap_if_ended(pipe.read.get()));
}

}  // namespace
}  // namespace loom::host
