#pragma once

#include <loom/bytes.h>
#include <loom/stage2_control.h>
#include <loom/unique_fd.h>

#include "failure.h"

namespace loom::bwrap {

// The whole of a sealed memory file of at most kMaxDocumentBytes, whatever its offset. Sealed,
// because bytes that somebody may still change while they are decoded are no document. `what` names
// it in messages.
[[nodiscard]] StepResult<Bytes> read_sealed_file(int fd, Stage2Step step, const char* what);

// Tells the host which process this is. Best effort: ready says it again.
void send_here(int control) noexcept;

// Tells the host that the report is complete. Whoever sends this becomes the command.
[[nodiscard]] StepResult<void> send_ready(int control);

// Best effort: sends nothing when `control` is no packet socket, and never waits.
void send_failed(int control, const Failure& failure) noexcept;

// Waits for the host's word. End of file is a failure: no live helper, no command.
[[nodiscard]] StepResult<CommitDocument> await_commit(int control);

}  // namespace loom::bwrap
