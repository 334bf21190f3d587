#include "process_limit.h"

#include <algorithm>

namespace loom::seatbelt {

namespace {

constexpr std::uint64_t kReserve = 16;

}  // namespace

bool leaves_room(std::uint64_t limit, std::uint64_t count) noexcept {
  return limit >= count && limit - count >= kReserve;
}

std::uint64_t brake_limit(const ForkBrake& brake) noexcept {
  const std::uint64_t wanted =
      brake.budget > UINT64_MAX - brake.count ? UINT64_MAX : brake.count + brake.budget;
  return std::min({wanted, brake.ceiling, brake.inherited_hard});
}

}  // namespace loom::seatbelt
