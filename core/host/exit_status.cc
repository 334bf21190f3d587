#include "host/exit_status.h"

#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>

#include "host/errno_text.h"

namespace loom::host {

namespace {

// The first 64 bytes of the kernel's struct pidfd_info (linux/pidfd.h, 6.13; exit_code and its
// flag 6.15), which Debian 12 has no header for. The size is part of the request number: a kernel
// that knows more answers this much.
struct PidfdInfo {
  std::uint64_t mask;
  std::uint64_t cgroup_id;
  std::array<std::uint32_t, 11> ids;  // pid, tgid, ppid and the user and group ids
  std::int32_t exit_code;             // as waitpid's status
};
static_assert(sizeof(PidfdInfo) == 64);

constexpr std::uint64_t kInfoExit = 1u << 3;
constexpr unsigned long kGetInfo = _IOWR(0xFF, 11, PidfdInfo);

ExitStatus from_wait_status(int status) noexcept {
  if (WIFSIGNALED(status)) {
    return ExitStatus{.code = 128 + WTERMSIG(status), .signal = WTERMSIG(status)};
  }
  return ExitStatus{.code = WEXITSTATUS(status), .signal = 0};
}

// As waitid(2); process 0 while the one behind `pidfd` runs.
Result<siginfo_t> ask_about(int pidfd, int flags) {
  siginfo_t info{};
  int result = -1;
  do {
    result = ::waitid(P_PIDFD, static_cast<id_t>(pidfd), &info, WEXITED | WNOHANG | flags);
  } while (result != 0 && errno == EINTR);
  if (result != 0) {
    const int error = errno;
    return fail(ErrorCode::kSystem, "wait for a process: " + errno_text(error), error);
  }
  return info;
}

}  // namespace

Result<bool> has_ended(int pidfd) {
  LOOM_TRY(const siginfo_t info, ask_about(pidfd, WNOWAIT));
  return info.si_pid != 0;
}

Result<std::optional<ExitStatus>> reap_if_ended(int pidfd) {
  LOOM_TRY(const siginfo_t info, ask_about(pidfd, 0));
  if (info.si_pid == 0) return std::optional<ExitStatus>();
  if (info.si_code == CLD_EXITED) {
    return std::optional(ExitStatus{.code = info.si_status, .signal = 0});
  }
  return std::optional(ExitStatus{.code = 128 + info.si_status, .signal = info.si_status});
}

std::optional<ExitStatus> foreign_exit_status(int pidfd) {
  PidfdInfo info{};
  info.mask = kInfoExit;
  if (::ioctl(pidfd, kGetInfo, &info) != 0) return std::nullopt;
  if ((info.mask & kInfoExit) == 0) return std::nullopt;
  return from_wait_status(info.exit_code);
}

Result<int> open_pidfd(int pid) {
  const long fd = ::syscall(SYS_pidfd_open, pid, 0u);  // close-on-exec by itself
  if (fd < 0) {
    const int error = errno;
    return fail(ErrorCode::kSystem,
                "open process " + std::to_string(pid) + ": " + errno_text(error), error);
  }
  return static_cast<int>(fd);
}

}  // namespace loom::host
