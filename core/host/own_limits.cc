#include "host/own_limits.h"

#include <sys/resource.h>

#include <algorithm>

namespace loom::host {

namespace {

// Sets a soft limit, as far as the hard one allows; what it was when that changed it.
std::optional<PlainLimit> set_soft(__rlimit_resource resource, rlim_t soft) {
  struct rlimit held {};
  if (::getrlimit(resource, &held) != 0) return std::nullopt;
  const PlainLimit before{
      .resource = static_cast<int>(resource), .soft = held.rlim_cur, .hard = held.rlim_max};
  const struct rlimit wanted { std::min(soft, held.rlim_max), held.rlim_max };
  if (wanted.rlim_cur == held.rlim_cur || ::setrlimit(resource, &wanted) != 0) return std::nullopt;
  return before;
}

}  // namespace

OwnLimits adjust_own_limits() {
  static constexpr rlim_t kNoCore = 1;
  OwnLimits limits;
  if (const auto before = set_soft(RLIMIT_NOFILE, RLIM_INFINITY)) {
    limits.descriptors = before->soft;
    limits.before.push_back(*before);
  }
  if (const auto before = set_soft(RLIMIT_CORE, kNoCore)) limits.before.push_back(*before);
  return limits;
}

}  // namespace loom::host
