#pragma once

#include <loom/result.h>

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

// How a process that is not our child ended, as its parent will learn it, while that has not reaped
// it yet (the last field of proc_pid_stat(5); the whole process' since kernel 5.17). Nothing when
// it was reaped, when a thread of it lives, or when we may not know. `pid` is that of `pidfd`.
[[nodiscard]] std::optional<ExitStatus> unreaped_exit_status(int pid, int pidfd);

// A pidfd for a process that cannot end meanwhile (it waits for us); close-on-exec, the caller's.
// Outside of Linux only for our own children (kUnsupported otherwise, also for the sender 0 that a
// control channel there speaks of).
[[nodiscard]] Result<int> open_pidfd(int pid);

}  // namespace loom::host
