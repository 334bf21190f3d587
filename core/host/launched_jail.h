#pragma once

#include <loom/launch.h>
#include <loom/unique_fd.h>
#include <sys/types.h>

#include <chrono>
#include <vector>

namespace loom::host {

// One run's processes, known to somebody who is not their parent: the first of them, which leads a
// session and group of its own, and, once somebody told, process 1 of the jail's pid namespace,
// which ends only when all of the namespace have. A jail without such a namespace is everybody in
// its group and, once somebody told, everybody in its mount namespace.
class LaunchedJail {
 public:
  using Deadline = std::chrono::steady_clock::time_point;

  // `registered`: when the process named itself, since boot. One that was born later and has its
  // number now is left alone.
  void meet_launcher(pid_t pid, std::chrono::nanoseconds registered);
  void meet_process_one(UniqueFd pidfd) { process_one_ = std::move(pidfd); }
  // A descriptor of /proc/<pid>/ns/mnt.
  void meet_view(UniqueFd mount_namespace) { view_ = std::move(mount_namespace); }

  // Whether everything has ended, the launcher having been killed with its group: waits for process
  // 1, or else kills what it finds. Without a launcher there is nothing to wait for.
  [[nodiscard]] bool await_end(Deadline deadline) const;
  // The same after SIGKILL to everything.
  [[nodiscard]] bool kill_and_await(Deadline deadline) const;

 private:
  [[nodiscard]] std::vector<UniqueFd> open_descendants() const;
  void open_members(std::vector<UniqueFd>& pidfds) const;

  ProcessRow launcher_{};    // pid 0: nobody registered
  UniqueFd launcher_pidfd_;  // none when it had ended before we looked
  UniqueFd process_one_;
  UniqueFd view_;
};

}  // namespace loom::host
