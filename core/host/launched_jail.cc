#include "host/launched_jail.h"

#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>

#include "host/process_table.h"

namespace loom::host {

namespace {

using std::chrono::milliseconds;
using Deadline = LaunchedJail::Deadline;

int milliseconds_until(Deadline deadline) {
  const auto left =
      std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now()).count();
  return static_cast<int>(std::max<milliseconds::rep>(0, left));
}

bool passed(Deadline deadline) { return std::chrono::steady_clock::now() >= deadline; }

bool has_ended(int pidfd, int patience_ms) {
  pollfd end{.fd = pidfd, .events = POLLIN, .revents = 0};
  return ::poll(&end, 1, patience_ms) > 0;
}

bool send(const UniqueFd& pidfd, int signal) {
  return pidfd && ::syscall(SYS_pidfd_send_signal, pidfd.get(), signal, nullptr, 0u) == 0;
}

bool has_view(pid_t pid, int mount_namespace) {
  struct stat wanted {};
  struct stat found {};
  const std::string name = "/proc/" + std::to_string(pid) + "/ns/mnt";
  return ::fstat(mount_namespace, &wanted) == 0 && ::stat(name.c_str(), &found) == 0 &&
         found.st_dev == wanted.st_dev && found.st_ino == wanted.st_ino;
}

// A pid is visited once, so no row can send this in circles.
std::vector<ProcessRow> descendants_of(pid_t pid, const std::vector<ProcessRow>& table) {
  std::vector<ProcessRow> found;
  std::set<std::int32_t> family{pid};
  for (std::size_t known = 0; known != family.size();) {
    known = family.size();
    std::copy_if(table.begin(), table.end(), std::back_inserter(found), [&](const ProcessRow& row) {
      return family.contains(row.parent) && family.insert(row.pid).second;
    });
  }
  return found;
}

// Of /proc/<pid>/stat's start time, in its unit.
std::uint64_t ticks(std::chrono::nanoseconds since_boot) {
  const auto per_second = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  const auto count = static_cast<std::uint64_t>(since_boot.count());
  return count / (1'000'000'000 / per_second);
}

}  // namespace

void LaunchedJail::meet_launcher(pid_t pid, std::chrono::nanoseconds registered) {
  launcher_ = {.pid = pid, .parent = 0, .birth = 0};
  launcher_pidfd_.reset();
  const auto row = read_process(pid);
  if (!row || row->birth > ticks(registered)) return;
  launcher_ = *row;
  launcher_pidfd_ = open_process(*row);
}

// While the launcher is stopped: its child may have left the group, and its grandchildren may have
// a namespace of their own or not.
std::vector<UniqueFd> LaunchedJail::open_descendants() const {
  std::vector<UniqueFd> pidfds;
  const auto table = read_process_table();
  if (!table) return pidfds;
  for (const ProcessRow& row : descendants_of(launcher_.pid, *table)) {
    pidfds.push_back(open_process(row));
  }
  return pidfds;
}

// Of the group, and where there is no process 1 to end them all, of the mount namespace.
void LaunchedJail::open_members(std::vector<UniqueFd>& pidfds) const {
  if (const auto members = read_group(launcher_)) {
    for (const ProcessRow& row : *members) pidfds.push_back(open_process(row));
  }
  if (process_one_ || !view_) return;
  const auto table = read_process_table();
  if (!table) return;
  for (const ProcessRow& row : *table) {
    // The descriptor first: a number that changes hands afterwards has another view.
    UniqueFd pidfd = open_process(row);
    if (pidfd && has_view(row.pid, view_.get())) pidfds.push_back(std::move(pidfd));
  }
}

bool LaunchedJail::await_end(Deadline deadline) const {
  if (launcher_.pid == 0) return true;
  // Whoever left the group is ended by nobody else.
  if (!process_one_) return kill_and_await(deadline);
  return has_ended(process_one_.get(), milliseconds_until(deadline));
}

bool LaunchedJail::kill_and_await(Deadline deadline) const {
  if (launcher_.pid == 0) return true;
  std::vector<UniqueFd> doomed;
  // Also as a zombie it keeps the number of its group.
  if (send(launcher_pidfd_, SIGSTOP)) {
    doomed = open_descendants();
    ::kill(-launcher_.pid, SIGKILL);
  }
  for (;;) {
    open_members(doomed);
    send(process_one_, SIGKILL);
    for (const UniqueFd& pidfd : doomed) send(pidfd, SIGKILL);
    for (const UniqueFd& pidfd : doomed) {
      if (pidfd && !has_ended(pidfd.get(), milliseconds_until(deadline))) return false;
    }
    if (process_one_ && !has_ended(process_one_.get(), milliseconds_until(deadline))) return false;
    doomed.clear();
    open_members(doomed);
    if (doomed.empty()) return true;
    if (passed(deadline)) return false;
  }
}

}  // namespace loom::host
