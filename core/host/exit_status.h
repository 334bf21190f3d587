#pragma once

#include <loom/result.h>
#include <loom/unique_fd.h>

#include <optional>

namespace loom::host {

struct ExitStatus {
  int code = 0;    // exit status, or 128 + signal
  int signal = 0;  // the signal it died of, else 0
};

// Whether the child behind `pidfd` has ended. Does not reap: until reap_if_ended its number, and
// with it its group's, stays its own. Outside of Linux `pidfd` becomes readable whenever any child
// may have ended, so whoever is woken asks this before doing anything about an end; where it was
// another's, asking also makes it unreadable until the next.
[[nodiscard]] Result<bool> has_ended(int pidfd);

// Reaps the child behind `pidfd`; nothing when it still runs. Outside of Linux a second reaping is
// an error too, and `pidfd` then stays readable.
[[nodiscard]] Result<std::optional<ExitStatus>> reap_if_ended(int pidfd);

// How the main thread of a process that is not our child ended, from a pidfd taken while it lived
// (PIDFD_GET_INFO with exit information, kernel 6.15). That is not how the process ended where the
// main thread went first and another one ended the process. Nothing where the kernel does not say,
// and nothing before its own parent has reaped it: a pidfd that polls readable may be too early.
[[nodiscard]] std::optional<ExitStatus> foreign_exit_status(int pidfd);

// How a process that is not our child ends, and whether its parent has other children then. What
// that is read from is opened while the process lives: its end wakes up its parent, too, and who
// has to open a file first comes too late for what the reaping takes away.
class ForeignEnd {
 public:
  // `pid`, which is its parent's only child, cannot end meanwhile (it waits for us). Nothing where
  // that is not seen.
  [[nodiscard]] static std::optional<ForeignEnd> watch(int pid, int parent);
  // How it ended, as its parent will learn it (the last field of proc_pid_stat(5); the whole
  // process' since kernel 5.17). Nothing while `pidfd`, its own, is not readable, when it was
  // reaped, and where we may not trace it.
  [[nodiscard]] std::optional<ExitStatus> status(int pidfd) const;
  // Whether it has ended, too, and its parent has no other child.
  [[nodiscard]] bool left_nobody(int pidfd) const;

 private:
  [[nodiscard]] bool is_named_alone() const;

  int pid_ = 0;
  UniqueFd directory_;  // /proc/<pid>
  UniqueFd stat_;
  UniqueFd siblings_;
};

// /proc/<pid>/stat of a process that is not our child, kept open.
class ForeignStat {
 public:
  // Of a process that is not reaped meanwhile. Nothing where it cannot be opened.
  [[nodiscard]] static std::optional<ForeignStat> open(int pid);
  // As process_state; 0 when the process is gone.
  [[nodiscard]] char state() const;
  // How a process ended that never had a second thread, once `pidfd`, its own, is readable; also
  // when it was reaped (kernel 6.15). Nothing where that is not told, or not yet.
  [[nodiscard]] std::optional<ExitStatus> end_of_only_thread(int pidfd) const;

 private:
  UniqueFd file_;
};

// The parent of the process behind `pidfd`, of whatever kinship (PIDFD_GET_INFO, kernel 6.13).
// Nothing where the kernel does not say, and when the process is gone.
[[nodiscard]] std::optional<int> parent_of(int pidfd);

// A pidfd for a process that cannot end meanwhile (it waits for us); close-on-exec, the caller's.
// Outside of Linux only for our own children (kUnsupported otherwise, also for the sender 0 that a
// control channel there speaks of).
[[nodiscard]] Result<int> open_pidfd(int pid);

}  // namespace loom::host
