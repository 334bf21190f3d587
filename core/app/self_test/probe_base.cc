#include "app/self_test/probe_base.h"

#include <algorithm>
#include <array>
#include <string>

namespace loom::app {
namespace {

// Of a text that is one.
AbsolutePath constant_path(const char* text) { return *AbsolutePath::parse(text); }

bool is_the_jails_own(const AbsolutePath& place, const BaseCandidates& candidates) {
  const auto covers = [&](const AbsolutePath& region) { return place.is_within(region); };
  for (const char* region : {"/tmp", "/dev", "/proc"}) {
    if (covers(constant_path(region))) return true;
  }
  return std::any_of(candidates.system_roots.begin(), candidates.system_roots.end(), covers);
}

}  // namespace

JailTags jail_tags(std::string_view os) noexcept {
  if (os == "darwin") return {.file_system = "seatbelt", .network = "seatbelt"};
  return {.file_system = "bwrap", .network = "seccomp"};
}

Result<AbsolutePath> choose_probe_base(const BaseCandidates& candidates) {
  if (candidates.os == "darwin") return constant_path("/private/tmp");
  if (!is_the_jails_own(candidates.temporary, candidates)) return candidates.temporary;
  if (candidates.var_tmp && !is_the_jails_own(*candidates.var_tmp, candidates)) {
    return *candidates.var_tmp;
  }
  return fail(ErrorCode::kUnsupported,
              "no place for a probe directory: a jail covers or shows " +
                  candidates.temporary.str() + " by itself, and /var/tmp is " +
                  (candidates.var_tmp ? "no better" : "not there") + "; set TMPDIR");
}

Policy base_policy(const AbsolutePath& directory) {
  static constexpr std::uint64_t kWallSeconds = 30;
  static constexpr std::uint64_t kOutputBytes = 1u << 20;
  Policy policy;
  policy.writable_roots = {directory};
  policy.network.mode = NetworkMode::kOff;
  policy.limits.wall_s = kWallSeconds;
  policy.limits.output_bytes = kOutputBytes;
  policy.env_allow = {"PATH"};
  return policy;
}

}  // namespace loom::app
