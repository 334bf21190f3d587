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

// The host's word, and what came with it.
struct Commit {
  CommitDocument document;
  UniqueFd exec_rules;  // exactly when the document says so
};

// Waits for it. End of file is a failure: no live helper, no command. So is a rule set that was
// promised and did not come (kExecRules), and a descriptor that nobody speaks of.
[[nodiscard]] StepResult<Commit> await_commit(int control);

// Tells the host that the exec rule set is in force. A host that does not hear of it is a failure.
[[nodiscard]] StepResult<void> send_confined(int control);

}  // namespace loom::bwrap
