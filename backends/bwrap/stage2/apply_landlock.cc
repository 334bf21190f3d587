#include "apply_landlock.h"

#include <errno.h>
#include <loom/unique_fd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "open_path.h"

namespace loom::bwrap {
namespace {

// The kernel's ABI, in full: the header of Debian 12 stops at LANDLOCK_ACCESS_FS_REFER and ABI 2.
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

// LANDLOCK_RESTRICT_SELF_LOG_SAME_EXEC_OFF. What LandlockWitness has refused on purpose is nothing
// for the system's audit log; what the command is refused is not logged anyway, since it is another
// program than the one that restricts itself.
constexpr std::uint32_t kDoNotLog = 1U << 0U;
constexpr std::uint32_t kLogAbi = 7;  // kernel 6.15; before it nothing is logged

constexpr std::uint64_t kExecute = 1U << 0U;
constexpr std::uint64_t kWriteFile = 1U << 1U;
constexpr std::uint64_t kReadFile = 1U << 2U;
constexpr std::uint64_t kTruncate = 1U << 14U;
constexpr std::uint64_t kIoctlDevice = 1U << 15U;
// The kernel refuses a rule that gives anything else to a non-directory (EINVAL).
constexpr std::uint64_t kFileRights = kExecute | kWriteFile | kReadFile | kTruncate | kIoctlDevice;

tl::unexpected<Failure> stop_at(std::string thing, int error) {
  return stop(Stage2Step::kLandlock, std::move(thing), error);
}

StepResult<void> add_rule(int ruleset, const LandlockRule& rule) {
  const UniqueFd path = open_without_links(rule.path);
  if (!path) {
    const bool absent = errno == ENOENT || errno == ENOTDIR;
    if (absent && !rule.required) return {};
    return stop_at(rule.path, errno);
  }
  struct stat status {};
  if (::fstat(path.get(), &status) != 0) return stop_at(rule.path, errno);
  const std::uint64_t access = S_ISDIR(status.st_mode) ? rule.access : (rule.access & kFileRights);
  if (access == 0) return {};  // the kernel refuses an empty rule; it would grant nothing
  const PathBeneathAttributes attributes{.allowed_access = access, .parent_fd = path.get()};
  if (::syscall(SYS_landlock_add_rule, ruleset, kRulePathBeneath, &attributes, 0U) != 0) {
    return stop_at(rule.path, errno);
  }
  return {};
}

}  // namespace

StepResult<void> apply_landlock(const PrepareDocument& document) {
  // An older kernel accepts the longer struct as long as what it does not know is zero.
  const RulesetAttributes attributes{.handled_access_fs = document.landlock_handled_fs,
                                     .handled_access_net = 0,
                                     .scoped = document.landlock_scoped};
  const UniqueFd ruleset(
      static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0U)));
  if (!ruleset) return stop_at("rule set", errno);
  const int rules = ruleset.get();
  for (const LandlockRule& rule : document.landlock_rules) LOOM_TRY_VOID(add_rule(rules, rule));
  const std::uint32_t flags = document.landlock_abi >= kLogAbi ? kDoNotLog : 0;
  if (::syscall(SYS_landlock_restrict_self, ruleset.get(), flags) != 0) {
    // landlock(7): the kernel stacks 16, and does not say that this is what E2BIG means.
    return stop_at(errno == E2BIG ? "16 layers are in force already" : "restrict self", errno);
  }
  return {};
}

}  // namespace loom::bwrap
