#include "host/own_limits.h"

#include <sys/resource.h>

#include <algorithm>
#include <climits>

namespace loom::host {

namespace {

// As many descriptors as a process may ask for: macOS refuses to raise the soft limit above
// OPEN_MAX, whatever the hard one is (setrlimit(2)).
constexpr rlim_t kMostDescriptors =
#if defined(__APPLE__)
    OPEN_MAX;
#else
    RLIM_INFINITY;
#endif

enum class Change : unsigned char { kRaise, kSet };

// Sets a soft limit, as far as the hard one allows; what it was when that changed it.
template <class Resource>
std::optional<PlainLimit> set_soft(Resource resource, rlim_t soft, Change change) {
  struct rlimit held {};
  if (::getrlimit(resource, &held) != 0) return std::nullopt;
  const PlainLimit before{
      .resource = static_cast<int>(resource), .soft = held.rlim_cur, .hard = held.rlim_max};
  struct rlimit wanted = held;
  wanted.rlim_cur = std::min(soft, held.rlim_max);
  if (change == Change::kRaise) wanted.rlim_cur = std::max(wanted.rlim_cur, held.rlim_cur);
  if (wanted.rlim_cur == held.rlim_cur || ::setrlimit(resource, &wanted) != 0) return std::nullopt;
  return before;
}

}  // namespace

OwnLimits adjust_own_limits() {
  static constexpr rlim_t kNoCore = 1;
  OwnLimits limits;
  if (const auto before = set_soft(RLIMIT_NOFILE, kMostDescriptors, Change::kRaise)) {
    limits.descriptors = before->soft;
    limits.before.push_back(*before);
  }
  if (const auto before = set_soft(RLIMIT_CORE, kNoCore, Change::kSet))
    limits.before.push_back(*before);
  return limits;
}

}  // namespace loom::host
