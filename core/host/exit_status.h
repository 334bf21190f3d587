#pragma once

#include <loom/result.h>

#include <optional>

namespace loom::host {

struct ExitStatus {
  int code = 0;    // exit status, or 128 + signal
  int signal = 0;  // the signal it died of, else 0
};

// Reaps the child behind `pidfd`; nothing when it still runs.
[[nodiscard]] Result<std::optional<ExitStatus>> reap_if_ended(int pidfd);

// How a process that is not our child ended, from a pidfd taken while it lived (PIDFD_GET_INFO with
// exit information, kernel 6.15). Nothing where the kernel does not say, and nothing before its own
// parent has reaped it: a pidfd that polls readable may be too early to ask.
[[nodiscard]] std::optional<ExitStatus> foreign_exit_status(int pidfd);

// A pidfd for a process that cannot end meanwhile (it waits for us); close-on-exec, the caller's.
[[nodiscard]] Result<int> open_pidfd(int pid);

}  // namespace loom::host
