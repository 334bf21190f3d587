#pragma once

#include <loom/result.h>

#include <cstdint>

namespace loom::app {

// How many processes this process' real user runs now, which is what a ceiling of the account's
// counts (RLIMIT_NPROC on macOS). kUnsupported where no probe needs it.
[[nodiscard]] Result<std::uint64_t> count_account_processes();

}  // namespace loom::app
