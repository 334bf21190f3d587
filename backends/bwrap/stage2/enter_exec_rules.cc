#include "enter_exec_rules.h"

#include <errno.h>
#include <linux/magic.h>
#include <loom/unique_fd.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include <string>
#include <utility>

#include "landlock_calls.h"
#include "open_path.h"

namespace loom::bwrap {
namespace {

constexpr const char* kScratch = "/tmp";

tl::unexpected<Failure> stop_at(std::string thing, int error = 0) {
  return stop(Stage2Step::kExecRules, std::move(thing), error);
}

StepResult<void> add_rule(int rules, const UniqueFd& at, const char* path, std::uint64_t access) {
  if (!at || add_path_rule(rules, at.get(), access) != 0) return stop_at(path, errno);
  return {};
}

// Any layer refuses to rename between two directories unless it grants that (landlock(7)); before
// ABI 2 none can.
StepResult<void> grant_refer(int rules, std::uint32_t landlock_abi) {
  if (landlock_abi < kLandlockReferAbi) return {};
  return add_rule(rules, open_without_links("/"), "/", kLandlockRefer);
}

// Only what is certainly the jail's own may run what was written a moment ago.
StepResult<void> admit_scratch(int rules) {
  const UniqueFd scratch = open_without_links(kScratch);
  struct stat root {};
  struct stat own {};
  struct statfs mount {};
  const bool known = scratch && ::stat("/", &root) == 0 && ::fstat(scratch.get(), &own) == 0 &&
                     ::fstatfs(scratch.get(), &mount) == 0;
  if (!known) return stop_at(kScratch, errno);
  if (mount.f_type != TMPFS_MAGIC || own.st_dev == root.st_dev) {
    return stop_at(std::string(kScratch) + " is not a tmpfs of the jail's own");
  }
  return add_rule(rules, scratch, kScratch, kLandlockExecute);
}

}  // namespace

StepResult<void> enter_exec_rules(const Commit& commit, std::uint32_t landlock_abi, int control) {
  if (!commit.document.exec_rules) return {};
  const int rules = commit.exec_rules.get();
  LOOM_TRY_VOID(grant_refer(rules, landlock_abi));
  if (commit.document.scratch_runs) LOOM_TRY_VOID(admit_scratch(rules));
  if (restrict_self(rules, 0) != 0) {
    // landlock(7): the kernel stacks 16, and does not say that this is what E2BIG means.
    return stop_at(errno == E2BIG ? "16 layers are in force already" : "restrict self", errno);
  }
  return send_confined(control);
}

}  // namespace loom::bwrap
