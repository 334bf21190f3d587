#include "supervise.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <initializer_list>

#include "control.h"
#include "process_tree.h"

namespace landlock::stage2 {
namespace {

// Of this process alone: the kernel sends it when the parent has ended (become_keeper).
constexpr int kParentEnded = SIGUSR2;
// A process that does not end under a kill that long is in the kernel's hands, not in ours; while
// some end, more may be ended.
constexpr std::int64_t kMostIdleMs = 5'000;
// Who forks as fast as it is killed shall not hold up the end of the run for good.
constexpr std::int64_t kMostSweepMs = 20'000;
constexpr timespec kPause{.tv_sec = 0, .tv_nsec = 5'000'000};

std::int64_t now_ms() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000 + now.tv_nsec / 1'000'000;
}

sigset_t awaited() noexcept {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int number : {SIGCHLD, SIGTERM, kParentEnded}) ::sigaddset(&set, number);
  return set;
}

// Ends everything below this process. What is left when time is up gets away, which the report says
// of every run (unheld:processes).
void sweep() noexcept {
  const sigset_t set = awaited();
  const std::int64_t start = now_ms();
  std::int64_t progress = start;
  for (std::int64_t now = start; now - start < kMostSweepMs && now - progress < kMostIdleMs;
       now = now_ms()) {
    kill_process_tree();
    pid_t ended = 0;
    while ((ended = ::waitpid(-1, nullptr, WNOHANG)) > 0) progress = now;
    if (ended < 0 && errno == ECHILD) return;
    ::sigtimedwait(&set, nullptr, &kPause);
  }
}

[[noreturn]] void end_as(int status) noexcept {
  if (!WIFSIGNALED(status)) ::_exit(WEXITSTATUS(status));
  const int number = WTERMSIG(status);
  const rlimit none{};
  ::setrlimit(RLIMIT_CORE, &none);
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  ::signal(number, SIG_DFL);
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, number);
  ::kill(::getpid(), number);
  ::sigprocmask(SIG_UNBLOCK, &set, nullptr);
  ::_exit(128 + number);
}

void pass_on(pid_t child, Whom whom) noexcept {
  // Before the command leads a group there is nobody else in it.
  if (whom == Whom::kGroupOfChild && ::kill(-child, SIGTERM) == 0) return;
  ::kill(child, SIGTERM);
}

}  // namespace

void become_keeper() noexcept {
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) {
    give_up(Step::kSession, "subreaper", errno);
  }
  open_process_tree();
}

void keep(pid_t child, Whom whom, pid_t parent) noexcept {
  const sigset_t set = awaited();
  int status = 0;
  for (bool ended = false; !ended;) {
    const int number = ::sigwaitinfo(&set, nullptr);
    if (number == SIGTERM) pass_on(child, whom);
    if (number == kParentEnded && ::getppid() != parent) {
      sweep();
      ::_exit(0);
    }
    int one = 0;
    for (pid_t pid = 0; (pid = ::waitpid(-1, &one, WNOHANG)) > 0;) {
      if (pid != child) continue;
      status = one;
      ended = true;
    }
  }
  sweep();
  end_as(status);
}

}  // namespace landlock::stage2
