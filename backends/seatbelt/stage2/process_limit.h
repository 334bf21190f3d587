#pragma once

#include <cstdint>

namespace loom::seatbelt {

// A limit of processes counts a whole account, not one run. So it is the number of those that run
// already that makes it tight or idle.

// Whether a limit of `limit` leaves a run any room beside `count` processes of the account: fewer
// than 16, and other programs of the same account would take them within moments.
[[nodiscard]] bool leaves_room(std::uint64_t limit, std::uint64_t count) noexcept;

struct ForkBrake {
  std::uint64_t count = 0;           // of the real uid's processes now
  std::uint64_t budget = 0;          // how many more there may be
  std::uint64_t ceiling = 0;         // kern.maxprocperuid
  std::uint64_t inherited_hard = 0;  // the hard limit in force
};
// The limit, soft and hard, that holds the account to count + budget, as far as it may be set.
[[nodiscard]] std::uint64_t brake_limit(const ForkBrake& brake) noexcept;

}  // namespace loom::seatbelt
