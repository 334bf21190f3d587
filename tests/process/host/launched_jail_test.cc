#include "host/launched_jail.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <time.h>

#include <fstream>

#include "host/process_table.h"
#include "process_support.h"
#include "tests/support/promised.h"

namespace loom::host {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

nanoseconds since_boot() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return std::chrono::seconds(now.tv_sec) + nanoseconds(now.tv_nsec);
}

LaunchedJail::Deadline in(milliseconds time) { return std::chrono::steady_clock::now() + time; }

// A shell that leads its own group and has told the numbers it was asked for.
struct Shell {
  SpawnedChild child;
  std::vector<pid_t> told;
};

Shell start_shell(const std::string& script, std::size_t numbers) {
  Pipe out = make_pipe();
  SpawnRequest request;
  request.candidates = {"/bin/sh"};
  request.argv = {"sh", "-c", script};
  request.environment = {"PATH=/usr/bin:/bin"};
  request.moves = {{.from = out.write.get(), .to = 1}};
  auto child = spawn(request);
  EXPECT_TRUE(child && !child->failure);
  Shell shell;
  if (!child) return shell;
  shell.child = std::move(*child);
  out.write.reset();
  std::string text;
  while (static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) < numbers) {
    char byte = 0;
    if (::read(out.read.get(), &byte, 1) != 1) break;
    text += byte;
  }
  std::istringstream words(text);
  for (pid_t pid = 0; words >> pid;) shell.told.push_back(pid);
  EXPECT_EQ(shell.told.size(), numbers);
  return shell;
}

bool runs(pid_t pid) {
  const char state = read_process_state(pid);
  return state != 0 && state != 'Z' && state != 'X';
}

TEST(LaunchedJailTest, EverythingOfTheGroupIsKilledAndAwaited) {
  const Shell shell = start_shell("sleep 600 & echo $!; sleep 600 & echo $!; wait", 2);
  LaunchedJail jail;
  jail.meet_launcher(shell.child.pid, since_boot());

  EXPECT_TRUE(jail.kill_and_await(in(milliseconds(5'000))));

  EXPECT_FALSE(runs(shell.child.pid));
  for (const pid_t pid : shell.told) EXPECT_FALSE(runs(pid)) << pid;
  EXPECT_EQ(wait_for(shell.child.pidfd.get()).signal, SIGKILL);
}

TEST(LaunchedJailTest, ADescendantThatLeftTheGroupIsKilledToo) {
  const Shell shell = start_shell("setsid sh -c 'echo $$; exec sleep 600' & wait", 1);
  ASSERT_TRUE(runs(shell.told.front()));
  LaunchedJail jail;
  jail.meet_launcher(shell.child.pid, since_boot());

  EXPECT_TRUE(jail.kill_and_await(in(milliseconds(5'000))));

  EXPECT_FALSE(runs(shell.told.front()));
  EXPECT_EQ(wait_for(shell.child.pidfd.get()).signal, SIGKILL);
}

TEST(LaunchedJailTest, MembersOfAGroupWhoseLeaderIsGoneAreKilled) {
  const Shell shell = start_shell("sleep 600 & echo $!; exit 0", 1);
  LaunchedJail jail;
  jail.meet_launcher(shell.child.pid, since_boot());
  ASSERT_EQ(wait_for(shell.child.pidfd.get()).code, 0);
  ASSERT_TRUE(runs(shell.told.front()));

  EXPECT_TRUE(jail.kill_and_await(in(milliseconds(5'000))));

  EXPECT_FALSE(runs(shell.told.front()));
}

TEST(LaunchedJailTest, ALeaderThatIsGoneBeforeItIsMetStillHasItsGroup) {
  const Shell shell = start_shell("sleep 600 & echo $!; exit 0", 1);
  const nanoseconds registered = since_boot();
  ASSERT_EQ(wait_for(shell.child.pidfd.get()).code, 0);
  LaunchedJail jail;
  jail.meet_launcher(shell.child.pid, registered);

  EXPECT_TRUE(jail.kill_and_await(in(milliseconds(5'000))));

  EXPECT_FALSE(runs(shell.told.front()));
}

// A number that changed hands between the registration and our look.
TEST(LaunchedJailTest, AProcessBornAfterTheRegistrationIsLeftAlone) {
  const Shell shell = start_shell("sleep 600 & echo $!; wait", 1);
  LaunchedJail jail;
  jail.meet_launcher(shell.child.pid, nanoseconds(1));

  EXPECT_TRUE(jail.kill_and_await(in(milliseconds(5'000))));

  EXPECT_TRUE(runs(shell.child.pid));
  EXPECT_TRUE(runs(shell.told.front()));
  ::kill(-shell.child.pid, SIGKILL);
  EXPECT_EQ(wait_for(shell.child.pidfd.get()).signal, SIGKILL);
}

TEST(LaunchedJailTest, ProcessOneDecidesWhenTheJailHasEnded) {
  const Shell launcher = start_shell("echo $$", 1);
  const Shell inner = start_shell("echo $$; exec sleep 600", 1);
  LaunchedJail jail;
  jail.meet_launcher(launcher.child.pid, since_boot());
  jail.meet_process_one(UniqueFd(::dup(inner.child.pidfd.get())));
  ASSERT_EQ(wait_for(launcher.child.pidfd.get()).code, 0);
  EXPECT_FALSE(jail.await_end(in(milliseconds(30))));

  EXPECT_TRUE(jail.kill_and_await(in(milliseconds(5'000))));

  EXPECT_TRUE(jail.await_end(in(milliseconds(0))));
  EXPECT_EQ(wait_for(inner.child.pidfd.get()).signal, SIGKILL);
}

// A jail without a pid namespace: nothing but its view tells who belongs to it.
TEST(LaunchedJailTest, WhoLeftTheGroupAndLostItsParentsIsFoundByItsView) {
  const Shell shell = start_shell(
      "exec unshare -Urm sh -c 'echo $$; setsid sh -c \"echo \\$\\$; exec sleep 600\" & exit'", 2);
  if (shell.told.size() != 2) LOOM_SKIP_UNLESS_PROMISED("no namespaces for this user");
  const pid_t escaped = shell.told.back();
  LaunchedJail jail;
  jail.meet_launcher(shell.child.pid, since_boot());
  ASSERT_EQ(wait_for(shell.child.pidfd.get()).code, 0);
  const std::string view = "/proc/" + std::to_string(escaped) + "/ns/mnt";
  jail.meet_view(UniqueFd(::open(view.c_str(), O_RDONLY | O_CLOEXEC)));
  ASSERT_TRUE(runs(escaped));
  const Shell stranger = start_shell("echo $$; exec sleep 600", 1);

  EXPECT_TRUE(jail.await_end(in(milliseconds(5'000))));

  EXPECT_FALSE(runs(escaped));
  EXPECT_TRUE(runs(stranger.child.pid));
  ::kill(stranger.child.pid, SIGKILL);
  EXPECT_EQ(wait_for(stranger.child.pidfd.get()).signal, SIGKILL);
}

TEST(LaunchedJailTest, WithoutALauncherThereIsNothingToWaitFor) {
  const LaunchedJail jail;

  EXPECT_TRUE(jail.await_end(in(milliseconds(0))));
  EXPECT_TRUE(jail.kill_and_await(in(milliseconds(0))));
}

}  // namespace
}  // namespace loom::host
