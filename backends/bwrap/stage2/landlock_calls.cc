#include "landlock_calls.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace loom::bwrap {
namespace {

struct RulesetAttributes {
  std::uint64_t handled_access_fs;
  std::uint64_t handled_access_net;
  std::uint64_t scoped;
};
struct [[gnu::packed]] PathBeneathAttributes {
  std::uint64_t allowed_access;
  std::int32_t parent_fd;
};
static_assert(sizeof(RulesetAttributes) == 24 && sizeof(PathBeneathAttributes) == 12);

constexpr int kRulePathBeneath = 1;

}  // namespace

int landlock_abi() noexcept {
  static constexpr unsigned kVersion = 1;  // LANDLOCK_CREATE_RULESET_VERSION
  return static_cast<int>(::syscall(SYS_landlock_create_ruleset, nullptr, 0UL, kVersion));
}

int create_rule_set(std::uint64_t handled_fs, std::uint64_t scoped) noexcept {
  // An older kernel accepts the longer struct as long as what it does not know is zero.
  const RulesetAttributes attributes{
      .handled_access_fs = handled_fs, .handled_access_net = 0, .scoped = scoped};
  return static_cast<int>(
      ::syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0U));
}

int add_path_rule(int rule_set, int beneath, std::uint64_t access) noexcept {
  const PathBeneathAttributes attributes{.allowed_access = access, .parent_fd = beneath};
  return static_cast<int>(
      ::syscall(SYS_landlock_add_rule, rule_set, kRulePathBeneath, &attributes, 0U));
}

int restrict_self(int rule_set, std::uint32_t flags) noexcept {
  return static_cast<int>(::syscall(SYS_landlock_restrict_self, rule_set, flags));
}

}  // namespace loom::bwrap
