#include "host/child_entry.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "host/caretaker_message.h"

namespace loom::host {

namespace {

constexpr int kExitNotExecuted = 126;
constexpr int kExitGateClosed = 125;
// linux/close_range.h (5.11); the C library's own header lacks it.
constexpr int kCloseRangeCloexec = 4;

[[noreturn]] void give_up(const ChildSpec& spec, ChildStep step, int error) noexcept {
  const ChildFailure failure{.step = step, .error = error};
  if (spec.failure != nullptr) {
    *spec.failure = failure;
    ::_exit(kExitNotExecuted);
  }
  // Eight bytes into an empty pipe: written whole or not at all, and then the exit status is what
  // is left.
  if (::write(spec.report_fd, &failure, sizeof failure) < 0) ::_exit(kExitNotExecuted);
  ::_exit(kExitNotExecuted);
}

// Before anything else, so that whatever this process does, it does in its control group.
void wait_at_gate(const ChildSpec& spec) noexcept {
  if (spec.gate < 0) return;
  ::close(spec.gate_opener);
  char token = 0;
  if (::read(spec.gate, &token, 1) != 1) ::_exit(kExitGateClosed);
}

// Survives the exec, except of a set-user-id image (prctl(2)). Not wanted for bubblewrap: killed
// before it lets its own child go on, it leaves that child waiting for ever; left alone it gets as
// far as stage 2, which finds nobody who commits.
void die_with_parent(const ChildSpec& spec) noexcept {
  if (spec.die_with_parent && ::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) {
    give_up(spec, ChildStep::kParentGone, errno);
  }
  if (::getppid() != spec.parent) give_up(spec, ChildStep::kParentGone, ESRCH);
}

// As the leader of its group, so that whoever ends the group ends all that comes of this process.
// Does not wait: the helper stands still meanwhile.
void register_with_caretaker(const ChildSpec& spec) noexcept {
  if (spec.caretaker < 0) return;
  struct timespec now;
  if (::clock_gettime(CLOCK_BOOTTIME, &now) != 0) give_up(spec, ChildStep::kRegister, errno);
  const CaretakerHead head{.verb = CaretakerVerb::kRegister,
                           .more = 0,
                           .run = spec.run,
                           .registered_ns = now.tv_sec * 1'000'000'000 + now.tv_nsec};
  if (::send(spec.caretaker, &head, sizeof head, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
    give_up(spec, ChildStep::kRegister, errno);
  }
}

// Dispositions first, then the mask: a pending signal must not find a handler of the helper's,
// whose memory this process may share.
void default_signals(const ChildSpec& spec) noexcept {
  struct sigaction action;
  action.sa_handler = SIG_DFL;
  action.sa_flags = 0;
  ::sigemptyset(&action.sa_mask);
  for (int number = 1; number < NSIG; ++number) {
    if ((spec.signals >> (number - 1) & 1U) == 0) continue;
    // EINVAL: SIGKILL, SIGSTOP, and the two the C library keeps for itself.
    if (::sigaction(number, &action, nullptr) != 0 && errno != EINVAL) {
      give_up(spec, ChildStep::kSignals, errno);
    }
  }
  if (::sigprocmask(SIG_SETMASK, &action.sa_mask, nullptr) != 0) {
    give_up(spec, ChildStep::kSignals, errno);
  }
}

// Everything is born close-on-exec; the mark is for what a library opened behind our back, and for
// the standard descriptors that nobody moved. A duplicate is born without it. Kernels before 5.11
// refuse the flag, which is why it is no error.
void arrange_descriptors(const ChildSpec& spec) noexcept {
  [[maybe_unused]] const int marked = ::close_range(0, ~0u, kCloseRangeCloexec);
  for (std::size_t i = 0; i < spec.move_count; ++i) {
    const FdMove& move = spec.moves[i];
    if (::dup2(move.from, move.to) < 0) give_up(spec, ChildStep::kDescriptors, errno);
  }
}

void set_limits(const ChildSpec& spec) noexcept {
  for (std::size_t i = 0; i < spec.limit_count; ++i) {
    const PlainLimit& limit = spec.limits[i];
    const struct rlimit value { limit.soft, limit.hard };
    if (::setrlimit(static_cast<__rlimit_resource>(limit.resource), &value) != 0) {
      give_up(spec, ChildStep::kLimits, errno);
    }
  }
}

// Returns errno. A directory or a file without permission does not end the search, but is
// remembered: it explains more than "not found" (as execvp does; no shell takes over a file without
// a header).
int execute(const ChildSpec& spec) noexcept {
  if (spec.image_fd >= 0) {
    ::execveat(spec.image_fd, "", spec.argv, spec.envp, AT_EMPTY_PATH);
    return errno;
  }
  bool forbidden = false;
  for (const char* const* candidate = spec.candidates; *candidate != nullptr; ++candidate) {
    ::execve(*candidate, spec.argv, spec.envp);
    const int error = errno;
    if (error == EACCES) {
      forbidden = true;
    } else if (error != ENOENT && error != ENOTDIR) {
      return error;
    }
  }
  return forbidden ? EACCES : ENOENT;
}

}  // namespace

void child_main(const ChildSpec& spec) noexcept {
  wait_at_gate(spec);
  die_with_parent(spec);
  if (::setsid() < 0) give_up(spec, ChildStep::kSession, errno);
  register_with_caretaker(spec);
  default_signals(spec);
  arrange_descriptors(spec);
  if (::chdir(spec.directory) != 0) give_up(spec, ChildStep::kDirectory, errno);
  set_limits(spec);
  give_up(spec, ChildStep::kExecute, execute(spec));
}

int child_entry(void* spec) noexcept { child_main(*static_cast<const ChildSpec*>(spec)); }

}  // namespace loom::host
