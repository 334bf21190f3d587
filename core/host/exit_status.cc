#include "host/exit_status.h"

#include <fcntl.h>
#include <loom/unique_fd.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

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

// The exit code in a line of /proc/<pid>/stat, as waitpid's status; nothing while the process runs.
std::optional<int> status_of_zombie(const std::string& file) {
  constexpr int kState = 3;
  constexpr int kExitCode = 52;
  std::array<char, 2'048> buffer;
  const UniqueFd opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  const ssize_t got = opened ? ::read(opened.get(), buffer.data(), buffer.size()) : 0;
  if (got <= 0) return std::nullopt;
  std::string_view rest(buffer.data(), static_cast<std::size_t>(got));
  // A program may call itself anything.
  rest.remove_prefix(std::min(rest.rfind(')') + 2, rest.size()));
  if (!rest.starts_with("Z ")) return std::nullopt;
  for (int field = kState; field < kExitCode; ++field) {
    rest.remove_prefix(std::min(rest.find(' '), rest.size() - 1) + 1);
    if (rest.empty()) return std::nullopt;
  }
  int status = 0;
  const auto read = std::from_chars(rest.data(), rest.data() + rest.size(), status);
  return read.ec == std::errc() ? std::optional(status) : std::nullopt;
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

std::optional<ExitStatus> unreaped_exit_status(int pid, int pidfd) {
  const std::string directory = "/proc/" + std::to_string(pid);
  // The kernel shows 0 to whoever may not trace the process, as it shows no namespaces then.
  struct stat namespaces {};
  if (::stat((directory + "/ns/user").c_str(), &namespaces) != 0) return std::nullopt;
  const auto status = status_of_zombie(directory + "/stat");
  // It has not been reaped, so what was read is its own.
  const bool still = ::syscall(SYS_pidfd_send_signal, pidfd, 0, nullptr, 0u) == 0;
  if (!status || (!still && errno != EPERM)) return std::nullopt;
  return from_wait_status(*status);
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
