#pragma once

#include <loom/result.h>

#include <cstdint>

namespace loom::seatbelt {

// Processes whose real uid is this process's, zombies included: what the kernel compares with
// RLIMIT_NPROC (xnu, bsd/kern/kern_fork.c). Counted in a list that was filled for that uid; the
// size of a list that was not is an estimate for the whole system.
[[nodiscard]] Result<std::uint64_t> count_account_processes();

// The most processes that the system lets one account have.
[[nodiscard]] Result<std::uint64_t> read_account_ceiling();

}  // namespace loom::seatbelt
