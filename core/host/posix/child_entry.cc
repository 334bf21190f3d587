#include "host/child_entry.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "host/posix/caretaker_record.h"

namespace loom::host {

namespace {

constexpr int kExitNotExecuted = 126;
constexpr int kExitGateClosed = 125;

// Laid out before the fork, as it is too large to be filled with zeros here.
CaretakerRecord registration{.word = CaretakerWord::kRegister, .number = 0, .run = 0, .text = {}};

[[noreturn]] void give_up(const ChildSpec& spec, ChildStep step, int error) noexcept {
  const ChildFailure failure{.step = step, .error = error};
  // Eight bytes into an empty pipe: written whole or not at all, and then the exit status is what
  // is left.
  if (::write(spec.report_fd, &failure, sizeof failure) < 0) ::_exit(kExitNotExecuted);
  ::_exit(kExitNotExecuted);
}

// Before anything else, so that whatever this process does, it does where it belongs.
void wait_at_gate(const ChildSpec& spec) noexcept {
  if (spec.gate < 0) return;
  ::close(spec.gate_opener);
  char token = 0;
  if (::read(spec.gate, &token, 1) != 1) ::_exit(kExitGateClosed);
}

// No signal comes when the helper dies later: that is the caretaker's business.
void stay_with_parent(const ChildSpec& spec) noexcept {
  if (::getppid() != spec.parent) give_up(spec, ChildStep::kParentGone, ESRCH);
}

// As the leader of its group, so that whoever ends the group ends all that comes of this process.
// A socket that takes a part of it only is no caretaker's to read any more, and nothing runs.
void register_with_caretaker(const ChildSpec& spec) noexcept {
  if (spec.caretaker < 0) return;
  registration.number = ::getpid();
  registration.run = spec.run;
  const ssize_t sent = ::send(spec.caretaker, &registration, sizeof registration, 0);
  if (sent < 0) give_up(spec, ChildStep::kRegister, errno);
  if (sent != static_cast<ssize_t>(sizeof registration))
    give_up(spec, ChildStep::kRegister, EAGAIN);
}

// Dispositions first, then the mask: a pending signal must not find a handler of the helper's. All
// of them, whatever the spec says: here signals are queued by handlers.
void default_signals(const ChildSpec& spec) noexcept {
  struct sigaction action;
  action.sa_handler = SIG_DFL;
  action.sa_flags = 0;
  sigemptyset(&action.sa_mask);
  for (int number = 1; number < NSIG; ++number) {
    // EINVAL: SIGKILL, SIGSTOP, and what a C library keeps for itself.
    if (::sigaction(number, &action, nullptr) != 0 && errno != EINVAL) {
      give_up(spec, ChildStep::kSignals, errno);
    }
  }
  if (::sigprocmask(SIG_SETMASK, &action.sa_mask, nullptr) != 0) {
    give_up(spec, ChildStep::kSignals, errno);
  }
}

// Everything is born close-on-exec; the mark is for what a library opened behind our back, and for
// the standard descriptors that nobody moved. A duplicate is born without it.
void arrange_descriptors(const ChildSpec& spec) noexcept {
  for (int fd = 0; fd <= spec.highest_descriptor; ++fd) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  for (std::size_t i = 0; i < spec.move_count; ++i) {
    const FdMove& move = spec.moves[i];
    if (::dup2(move.from, move.to) < 0) give_up(spec, ChildStep::kDescriptors, errno);
  }
}

// The C library of GNU numbers resources by an enumeration of its own.
template <class Number>
int set_limit(int (*set)(Number, const struct rlimit*), int resource,
              const struct rlimit& value) noexcept {
  return set(static_cast<Number>(resource), &value);
}

void set_limits(const ChildSpec& spec) noexcept {
  for (std::size_t i = 0; i < spec.limit_count; ++i) {
    const PlainLimit& limit = spec.limits[i];
    struct rlimit value {};
    value.rlim_cur = static_cast<rlim_t>(limit.soft);
    value.rlim_max = static_cast<rlim_t>(limit.hard);
    if (set_limit(&::setrlimit, limit.resource, value) != 0) {
      give_up(spec, ChildStep::kLimits, errno);
    }
  }
}

// Returns errno. A directory or a file without permission does not end the search, but is
// remembered: it explains more than "not found" (as execvp does; no shell takes over a file without
// a header).
int execute(const ChildSpec& spec) noexcept {
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
  stay_with_parent(spec);
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
