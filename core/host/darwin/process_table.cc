#include "host/process_table.h"

#include <signal.h>
#include <sys/sysctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "host/darwin/read_rows.h"

// By sysctl(3), whose rows hold everything at once: pid, parent, group, birth and state. A program
// inside a profile may ask for them too, while libproc's calls are checked one by one.
namespace loom::host {

namespace {

constexpr std::uint64_t kMicrosecondsPerSecond = 1'000'000;

// The number of the kernel's own process is 0, which is no process to ask about by number.
Result<std::vector<kinfo_proc>> read_processes(int which, int number) {
  std::array<int, 4> name = {CTL_KERN, KERN_PROC, which, number};
  return read_rows<kinfo_proc>(
      [&name](void* buffer, std::size_t* bytes) {
        const int done =
            ::sysctl(name.data(), static_cast<u_int>(name.size()), buffer, bytes, nullptr, 0);
        return done == 0 ? 0 : errno;
      },
      "process table");
}

// The birth is when fork made the process; execve does not change it.
ProcessRow row_of(const kinfo_proc& info) {
  const timeval& start = info.kp_proc.p_starttime;
  return {.pid = info.kp_proc.p_pid,
          .parent = info.kp_eproc.e_ppid,
          .birth = static_cast<std::uint64_t>(start.tv_sec) * kMicrosecondsPerSecond +
                   static_cast<std::uint64_t>(start.tv_usec)};
}

// Nothing when there is no such process.
std::optional<kinfo_proc> read_one(std::int32_t pid) {
  if (pid <= 0) return std::nullopt;
  const auto found = read_processes(KERN_PROC_PID, pid);
  if (!found || found->empty() || found->front().kp_proc.p_pid != pid) return std::nullopt;
  return found->front();
}

bool is_zombie(const kinfo_proc& info) { return info.kp_proc.p_stat == SZOMB; }

}  // namespace

std::optional<ProcessRow> read_process(std::int32_t pid) {
  const auto info = read_one(pid);
  if (!info) return std::nullopt;
  return row_of(*info);
}

// In the letters of Linux.
char read_process_state(std::int32_t pid) {
  const auto info = read_one(pid);
  if (!info) return '\0';
  switch (info->kp_proc.p_stat) {
    case SZOMB:
      return 'Z';
    case SSTOP:
      return 'T';
    case SSLEEP:
      return 'S';
    default:
      return 'R';
  }
}

Result<std::vector<ProcessRow>> read_process_table() {
  LOOM_TRY(const std::vector<kinfo_proc> found, read_processes(KERN_PROC_ALL, 0));
  std::vector<ProcessRow> rows;
  rows.reserve(found.size());
  for (const kinfo_proc& info : found) rows.push_back(row_of(info));
  return rows;
}

Result<std::vector<ProcessRow>> read_group(const ProcessRow& leader) {
  LOOM_TRY(const std::vector<kinfo_proc> found, read_processes(KERN_PROC_ALL, 0));
  std::vector<ProcessRow> rows;
  for (const kinfo_proc& info : found) {
    const ProcessRow row = row_of(info);
    // While the group has members nobody gets its number: a stranger who has it is proof that all
    // of them have ended.
    if (row.pid == leader.pid && row.birth != leader.birth) return std::vector<ProcessRow>();
    // The row's session is an address that the kernel leaves out.
    const bool member =
        info.kp_eproc.e_pgid == leader.pid && !is_zombie(info) && ::getsid(row.pid) == leader.pid;
    if (member) rows.push_back(row);
  }
  return rows;
}

Result<std::vector<std::int32_t>> read_children(std::int32_t pid) {
  LOOM_TRY(const std::vector<kinfo_proc> found, read_processes(KERN_PROC_ALL, 0));
  std::vector<std::int32_t> children;
  for (const kinfo_proc& info : found) {
    if (info.kp_eproc.e_ppid == pid && info.kp_proc.p_pid > 0) {
      children.push_back(info.kp_proc.p_pid);
    }
  }
  return children;
}

// There are none, and so nobody has any of his own.
bool shares_namespaces(int /*pidfd*/, std::int32_t /*pid*/, NamespaceKinds /*kinds*/) {
  return true;
}

// No descriptor stands for another process.
UniqueFd open_process(const ProcessRow& /*row*/) noexcept { return UniqueFd(); }

// Not atomic: a process may end between the look and the signal, and its number be given to another
// in between. Numbers are given in turn, some 100,000 of them, so that takes a good while. To a
// zombie the kernel says yes, and nothing is delivered.
bool signal_process(const ProcessRow& row, int signal) noexcept {
  const auto now = read_one(row.pid);
  if (!now || row_of(*now).birth != row.birth || is_zombie(*now)) return false;
  return ::kill(row.pid, signal) == 0;
}

}  // namespace loom::host
