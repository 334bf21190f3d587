#include "apply_landlock.h"

#include <errno.h>
#include <loom/unique_fd.h>
#include <sys/stat.h>

#include "landlock_calls.h"
#include "open_path.h"

namespace loom::bwrap {
namespace {

// The kernel refuses a rule that gives anything else to a non-directory (EINVAL).
constexpr std::uint64_t kFileRights = kLandlockExecute | kLandlockWriteFile | kLandlockReadFile |
                                      kLandlockTruncate | kLandlockIoctlDevice;

tl::unexpected<Failure> stop_at(std::string thing, int error) {
  return stop(Stage2Step::kLandlock, std::move(thing), error);
}

StepResult<void> add_rule(int ruleset, const LandlockRule& rule) {
  const UniqueFd path = open_without_links(rule.path);
  if (!path) {
    // Behind a closed mask, which nobody may search, say: the command cannot get there either.
    const bool out_of_reach = errno == ENOENT || errno == ENOTDIR || errno == EACCES;
    if (out_of_reach && !rule.required) return {};
    return stop_at(rule.path, errno);
  }
  struct stat status {};
  if (::fstat(path.get(), &status) != 0) return stop_at(rule.path, errno);
  const std::uint64_t access = S_ISDIR(status.st_mode) ? rule.access : (rule.access & kFileRights);
  if (access == 0) return {};  // the kernel refuses an empty rule; it would grant nothing
  if (add_path_rule(ruleset, path.get(), access) != 0) return stop_at(rule.path, errno);
  return {};
}

}  // namespace

StepResult<void> apply_landlock(const PrepareDocument& document) {
  const UniqueFd ruleset(create_rule_set(document.landlock_handled_fs, document.landlock_scoped));
  if (!ruleset) return stop_at("rule set", errno);
  const int rules = ruleset.get();
  for (const LandlockRule& rule : document.landlock_rules) LOOM_TRY_VOID(add_rule(rules, rule));
  // What LandlockWitness has refused on purpose is nothing for the system's audit log; what the
  // command is refused is not logged anyway, since it is another program than the one that
  // restricts itself.
  const std::uint32_t flags = document.landlock_abi >= kLandlockLogAbi ? kLandlockDoNotLog : 0;
  if (restrict_self(ruleset.get(), flags) != 0) {
    // landlock(7): the kernel stacks 16, and does not say that this is what E2BIG means.
    return stop_at(errno == E2BIG ? "16 layers are in force already" : "restrict self", errno);
  }
  return {};
}

}  // namespace loom::bwrap
