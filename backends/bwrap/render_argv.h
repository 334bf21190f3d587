#pragma once

#include <loom/plan.h>

#include <cstdint>
#include <string>
#include <vector>

#include "run_memo.h"

namespace loom::bwrap {

// One operation as bubblewrap's options, joined by single spaces; empty for the root tmpfs.
[[nodiscard]] std::string fragment_text(const MountOperation& operation);

// The options in canonical form: what goldens, digest and people read. No command line of stage 2.
[[nodiscard]] std::vector<std::string> canonical_argv(const std::vector<MountOperation>& view,
                                                      bool cut_network);

// The first 16 hex digits of SHA-256 over the operations, each its fragment and a newline.
[[nodiscard]] std::string view_digest(const std::vector<MountOperation>& view);

// The options that bubblewrap really gets, each ended by a NUL, for --args: canonical, without the
// tolerant binds whose source is absent, and with the host's links that the policy's paths go
// through. Where mounts are by handle (D4), sources are numbers, and what is mounted inside a
// region that the command can write comes last, with the host's tree covered (mount_steps.h).
[[nodiscard]] Bytes executed_options(const std::vector<MountOperation>& view, const RunMemo& memo);

}  // namespace loom::bwrap
