#pragma once

#include <loom/result.h>
#include <loom/unique_fd.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "host/child_entry.h"
#include "host/own_signals.h"
#include "host/syscalls.h"

namespace loom::host {

struct SpawnRequest {
  int image_fd = -1;  // borrowed; executed by handle, which only Linux can (kUnsupported elsewhere)
  std::vector<std::string> candidates;  // absolute paths, when image_fd is -1
  std::vector<std::string> argv;
  std::vector<std::string> environment;
  std::string directory = "/";
  std::vector<FdMove> moves;  // borrowed sources, any numbers; lifted before the fork
  std::vector<PlainLimit> limits;
  // Those that may not have their default effect here; the child gives it back to them. Sixty calls
  // if nobody asked (signals_with_dispositions).
  SignalSet signals = kEverySignal;
  bool die_with_parent = true;
  int caretaker = -1;     // borrowed; the child registers there for `run` before it executes
  std::uint64_t run = 0;  // as the caretaker knows it
  // When set, the child waits at a gate, before it does anything at all, until this has returned:
  // time to put `pid` where it belongs.
  std::function<void(pid_t pid)> while_held{};
};

struct SpawnedChild {
  pid_t pid = -1;  // leads a session and process group of its own
  // Readable when the process has ended; outside of Linux: when it may have (has_ended,
  // exit_status.h).
  UniqueFd pidfd;
  std::optional<ChildFailure>
      failure;  // the image was not executed; the child exits with 126 (reap it)
};

// Forks once and executes. Returns after the exec happened or could not: no exit status has to be
// interpreted. Fails with kSystem when there is no child at all.
// A word with a NUL inside, which the kernel would cut, and a target number used twice are
// kInvalidRequest.
//
// A held child that does not execute within five seconds of that is killed, and an error.
//
// A helper that dies while the child is held takes the gate along: the child exits 125 and nothing
// was executed.
//
// The child dies with the thread that called this, if the request says so (unless the image is
// set-user-id), and where the kernel can see to it: can_die_with_parent.
[[nodiscard]] Result<SpawnedChild> spawn(const SpawnRequest& request,
                                         const Syscalls& syscalls = real_syscalls());

// Whether die_with_parent does anything here (Linux only). Elsewhere the caretaker ends what a
// killed helper leaves running.
[[nodiscard]] bool can_die_with_parent() noexcept;

[[nodiscard]] const char* child_step_name(ChildStep step) noexcept;

}  // namespace loom::host
