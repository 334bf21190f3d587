#pragma once

#include <loom/bytes.h>
#include <loom/stage2_control.h>

#include "failure.h"

namespace loom::seatbelt {

// The control channel of a system without SOCK_SEQPACKET: a stream socket. Each message is its
// length, four bytes little-endian, and then the encoded ControlMessage. The descriptor of a
// commit's memory file rides on the message's first byte.

// Everything up to the end of a memory file that is read once, of at most kMaxDocumentBytes: a
// pipe, a socket whose other end is closed, or an unlinked file. `what` names it in messages.
[[nodiscard]] StepResult<Bytes> read_document_file(int fd, Stage2Step step, const char* what);

// Tells the host which process this is. Best effort: ready says it again.
void send_here(int control) noexcept;

// Tells the host that the report is complete. Whoever sends this becomes the command.
[[nodiscard]] StepResult<void> send_ready(int control);

// Best effort: sends nothing when `control` is no stream socket, and never waits.
void send_failed(int control, const Failure& failure) noexcept;

// Waits for the host's word, and reads the document that comes with it. End of file is a failure:
// no live helper, no command. So are a message cut short, a second descriptor, and a rule set,
// which nothing here enters (kExecRules).
[[nodiscard]] StepResult<CommitDocument> await_commit(int control);

}  // namespace loom::seatbelt
