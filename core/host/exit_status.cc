#include "host/exit_status.h"

#include <fcntl.h>
#include <loom/unique_fd.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "host/errno_text.h"
#include "host/process_table.h"

namespace loom::host {

namespace {

// The first 64 bytes of the kernel's struct pidfd_info (linux/pidfd.h, 6.13; exit_code and its
// flag 6.15), which Debian 12 has no header for. The size is part of the request number: a kernel
// that knows more answers this much.
struct PidfdInfo {
  std::uint64_t mask;
  std::uint64_t cgroup_id;
  std::uint32_t pid;
  std::uint32_t thread_group;
  std::uint32_t parent;
  std::array<std::uint32_t, 8> ids;  // of user and group
  std::int32_t exit_code;            // as waitpid's status
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

// Nothing while the process runs, and once it is reaped.
std::optional<EndLine> read_end_line(int stat) {
  std::array<char, 2'048> buffer;
  const ssize_t got = ::pread(stat, buffer.data(), buffer.size(), 0);
  if (got <= 0) return std::nullopt;
  return parse_end_line(std::string_view(buffer.data(), static_cast<std::size_t>(got)));
}

// Whether every thread has ended.
bool polls_ended(int pidfd) {
  pollfd end{.fd = pidfd, .events = POLLIN, .revents = 0};
  return ::poll(&end, 1, 0) == 1;
}

bool is_reaped(int pidfd) {
  return ::syscall(SYS_pidfd_send_signal, pidfd, 0, nullptr, 0u) != 0 && errno != EPERM;
}

// The kernel shows 0 to whoever may not trace the process, as it shows no namespaces then.
bool shows_exit_code(int process) {
  struct stat namespaces {};
  return ::fstatat(process, "ns/user", &namespaces, 0) == 0;
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

std::optional<int> parent_of(int pidfd) {
  PidfdInfo info{};
  if (::ioctl(pidfd, kGetInfo, &info) != 0 || info.parent == 0) return std::nullopt;
  return static_cast<int>(info.parent);
}

std::optional<ForeignEnd> ForeignEnd::watch(int pid, int parent) {
  const std::string number = std::to_string(parent);
  const std::string siblings = "/proc/" + number + "/task/" + number + "/children";
  ForeignEnd end;
  end.pid_ = pid;
  end.directory_.reset(
      ::open(("/proc/" + std::to_string(pid)).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!end.directory_) return std::nullopt;
  end.stat_.reset(::openat(end.directory_.get(), "stat", O_RDONLY | O_CLOEXEC));
  end.siblings_.reset(::open(siblings.c_str(), O_RDONLY | O_CLOEXEC));
  // A /proc of another pid namespace than ours, say, has other processes of these numbers.
  if (!end.stat_ || !end.siblings_ || !end.is_named_alone()) return std::nullopt;
  return end;
}

std::optional<ExitStatus> ForeignEnd::status(int pidfd) const {
  // Before: a main thread that went first is a zombie, too.
  if (!polls_ended(pidfd)) return std::nullopt;
  const auto line = read_end_line(stat_.get());
  if (!line) return std::nullopt;
  const bool known = line->status != 0 || line->is_known || shows_exit_code(directory_.get());
  return known ? std::optional(from_wait_status(line->status)) : std::nullopt;
}

bool ForeignEnd::is_named_alone() const {
  std::array<char, 64> buffer;
  const ssize_t got = ::pread(siblings_.get(), buffer.data(), buffer.size(), 0);
  return got > 0 && std::string_view(buffer.data(), static_cast<std::size_t>(got)) ==
                        std::to_string(pid_) + " ";
}

bool ForeignEnd::left_nobody(int pidfd) const {
  // Its own children become its parent's when it ends, and the list is read after that.
  if (!polls_ended(pidfd)) return false;
  // The list leaves somebody out if one that it has named already is reaped while it is read
  // (proc_pid_task_children(5)). An empty one has named nobody.
  for (int tries = 0; tries < 2; ++tries) {
    char byte = 0;
    const ssize_t got = ::pread(siblings_.get(), &byte, 1, 0);
    if (got == 0 || (got < 0 && errno == ESRCH)) return true;
    if (is_named_alone() && !is_reaped(pidfd)) return true;
  }
  return false;
}

std::optional<ForeignStat> ForeignStat::open(int pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/stat";
  ForeignStat stat;
  stat.file_.reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return stat.file_ ? std::optional(std::move(stat)) : std::nullopt;
}

char ForeignStat::state() const {
  std::array<char, 2'048> buffer;
  const ssize_t got = ::pread(file_.get(), buffer.data(), buffer.size(), 0);
  return got <= 0 ? '\0'
                  : process_state(std::string_view(buffer.data(), static_cast<std::size_t>(got)));
}

std::optional<ExitStatus> ForeignStat::end_of_only_thread(int pidfd) const {
  const auto line = read_end_line(file_.get());
  if (line && (line->status != 0 || line->is_known)) return from_wait_status(line->status);
  return foreign_exit_status(pidfd);
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
