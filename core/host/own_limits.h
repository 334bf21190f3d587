#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "host/child_entry.h"

namespace loom::host {

// What this process changed of its own resource limits. Every child inherits them; whoever
// becomes a command gets back what it was (soft limits only, the hard ones are not touched).
struct OwnLimits {
  // The soft RLIMIT_NOFILE before it was raised to the hard one; nothing when it was that already.
  std::optional<std::uint64_t> descriptors;
  std::vector<PlainLimit> before;  // everything that was changed
};

// A jail with many mounts needs a descriptor for each. A core of this process would hold policies
// and environments of commands, so none is dumped: a limit of 1 also keeps it from a program that
// the kernel hands cores to (fs/coredump.c); where the hard limit is 0 it stays 0.
[[nodiscard]] OwnLimits adjust_own_limits();

}  // namespace loom::host
