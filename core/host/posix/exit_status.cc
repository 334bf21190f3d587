#include "host/exit_status.h"

#include <signal.h>
#include <sys/wait.h>

#include <cerrno>
#include <string>
#include <utility>

#include "host/errno_text.h"
#include "host/posix/child_ends.h"

namespace loom::host {

namespace {

tl::unexpected<Error> cannot_wait(int error) {
  return fail(ErrorCode::kSystem, "wait for a process: " + errno_text(error), error);
}

// Whether `child`, which is ours, has ended; it stays what it is. Where nothing has, waitid(2) may
// leave the answer as it found it, hence the zeros.
Result<bool> is_zombie(pid_t child) {
  siginfo_t info{};
  int result = -1;
  do {
    result = ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT);
  } while (result != 0 && errno == EINTR);
  if (result != 0) return cannot_wait(errno);
  return info.si_pid == child;
}

ExitStatus from_wait_status(int status) noexcept {
  if (WIFSIGNALED(status)) {
    return ExitStatus{.code = 128 + WTERMSIG(status), .signal = WTERMSIG(status)};
  }
  return ExitStatus{.code = WEXITSTATUS(status), .signal = 0};
}

}  // namespace

Result<bool> has_ended(int pidfd) {
  const auto child = watched_child(pidfd);
  if (!child) return cannot_wait(ECHILD);
  // Before the question: an end after it writes anew.
  drain_child_watch(pidfd);
  LOOM_TRY(const bool ended, is_zombie(*child));
  // As a descriptor of the process would: readable until it is reaped.
  if (ended) rearm_child_watch(pidfd);
  return ended;
}

// waitpid(2), as the status that waitid(2) gives is not the same everywhere.
Result<std::optional<ExitStatus>> reap_if_ended(int pidfd) {
  const auto child = watched_child(pidfd);
  if (!child) return cannot_wait(ECHILD);
  drain_child_watch(pidfd);
  int status = 0;
  pid_t reaped = -1;
  do {
    reaped = ::waitpid(*child, &status, WNOHANG);
  } while (reaped < 0 && errno == EINTR);
  if (reaped < 0) {
    const int error = errno;
    end_child_watch(pidfd);
    return cannot_wait(error);
  }
  if (reaped == 0) return std::optional<ExitStatus>();
  end_child_watch(pidfd);
  return std::optional(from_wait_status(status));
}

std::optional<ExitStatus> foreign_exit_status(int) { return std::nullopt; }

std::optional<int> parent_of(int) { return std::nullopt; }

std::optional<ForeignEnd> ForeignEnd::watch(int, int) { return std::nullopt; }

std::optional<ExitStatus> ForeignEnd::status(int) const { return std::nullopt; }

bool ForeignEnd::left_nobody(int) const { return false; }

std::optional<ForeignStat> ForeignStat::open(int) { return std::nullopt; }

char ForeignStat::state() const { return 0; }

std::optional<ExitStatus> ForeignStat::end_of_only_thread(int) const { return std::nullopt; }

Result<int> open_pidfd(int pid) {
  const auto cannot = [pid](ErrorCode code, int error, const char* why) {
    return fail(code, "open process " + std::to_string(pid) + ": " + why, error);
  };
  if (pid <= 0 || !is_zombie(pid)) {
    return cannot(ErrorCode::kUnsupported, ECHILD, "only children can be watched on this system");
  }
  LOOM_TRY(UniqueFd watch, watch_child_end());
  name_watched_child(watch.get(), pid);
  // What ended before SIGCHLD had somebody to tell.
  const auto ended = is_zombie(pid);
  if (ended && *ended) ::raise(SIGCHLD);
  return watch.release();
}

}  // namespace loom::host
