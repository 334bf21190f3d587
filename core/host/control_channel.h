#pragma once

#include <loom/bytes.h>
#include <loom/result.h>
#include <loom/stage2_control.h>
#include <loom/unique_fd.h>
#include <sys/types.h>

#include <optional>

namespace loom::host {

struct ControlPair {
  UniqueFd host;  // non-blocking, receives the sender's credentials
  UniqueFd child;
};
[[nodiscard]] Result<ControlPair> make_control_pair();

struct ReceivedControl {
  bool closed = false;                                   // end of file
  std::optional<ControlMessage> message = std::nullopt;  // nothing and not closed: try again later
  // Of `message`, by the kernel's word, in our pid namespace; 0 where the kernel does not say (any
  // but Linux).
  pid_t sender = 0;
};
[[nodiscard]] Result<ReceivedControl> receive_control(int host_end);

// What a commit's document will lie in.
[[nodiscard]] Result<UniqueFd> begin_commit();
// The commit's document in a sealed memory file, ready to be sent; `begun` is used up.
[[nodiscard]] Result<UniqueFd> make_commit(UniqueFd begun, ByteView document);
// Sends the commit. Both descriptors are borrowed. `exec_rules`: the rule set that the document
// speaks of; -1: it speaks of none.
[[nodiscard]] Result<void> send_commit(int host_end, int commit_file, int exec_rules = -1);

}  // namespace loom::host
