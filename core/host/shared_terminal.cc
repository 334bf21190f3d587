#include "host/shared_terminal.h"

#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>

namespace loom::host {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

// What fits when a terminal polls writable: Linux counts its room in blocks of 256 bytes, and a
// line feed becomes two. Where less fits, the timer helps.
constexpr std::size_t kPiece = 128;

timeval to_timeval(microseconds time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  timeval value{};
  value.tv_sec = static_cast<decltype(value.tv_sec)>(seconds.count());
  value.tv_usec = static_cast<decltype(value.tv_usec)>((time - seconds).count());
  return value;
}

microseconds from_timeval(const timeval& value) {
  return std::chrono::seconds(value.tv_sec) + microseconds(value.tv_usec);
}

void wake(int /*signal*/) {}  // to interrupt is all

// Interrupts what blocks in its life, again and again: the first time may come before it blocks.
class Interruption {
 public:
  Interruption() {
    struct sigaction action {};
    action.sa_handler = wake;  // without SA_RESTART
    ::sigaction(SIGALRM, &action, &action_);
    sigset_t alarm;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    ::sigprocmask(SIG_UNBLOCK, &alarm, &mask_);
    const timeval each = to_timeval(kSharedTerminalPatience);
    const itimerval ours{.it_interval = each, .it_value = each};
    ::setitimer(ITIMER_REAL, &ours, &timer_);
  }
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  Interruption(Interruption&&) = delete;
  Interruption& operator=(Interruption&&) = delete;
  ~Interruption() {
    const int error = errno;
    constexpr itimerval kNone{};
    ::setitimer(ITIMER_REAL, &kNone, nullptr);
    ::sigprocmask(SIG_SETMASK, &mask_, nullptr);
    ::sigaction(SIGALRM, &action_, nullptr);
    give_back_timer();
    errno = error;
  }

 private:
  void give_back_timer() {
    const microseconds left = from_timeval(timer_.it_value);
    if (left == microseconds::zero()) return;
    const auto passed = std::chrono::floor<microseconds>(Clock::now() - began_);
    timer_.it_value = to_timeval(std::max(left - passed, microseconds(1)));
    ::setitimer(ITIMER_REAL, &timer_, nullptr);
  }

  Clock::time_point began_ = Clock::now();
  struct sigaction action_ {};
  sigset_t mask_{};
  itimerval timer_{};
};

}  // namespace

ssize_t write_shared_terminal(const Syscalls& syscalls, int fd, ByteView bytes) {
  pollfd ready{.fd = fd, .events = POLLOUT, .revents = 0};
  const int count = syscalls.poll(&ready, 1, 0);
  if (count < 0) return -1;
  if (count == 0) {
    errno = EAGAIN;
    return -1;
  }
  const Interruption interruption;
  const ssize_t wrote = syscalls.write(fd, bytes.data(), std::min(bytes.size(), kPiece));
  if (wrote < 0 && errno == EINTR) errno = EAGAIN;
  return wrote;
}

bool is_terminal_master(int fd) {
  char name[PATH_MAX];
  return ::ptsname_r(fd, name, sizeof name) == 0;
}

}  // namespace loom::host
