#include "audit.h"

#include <loom/view_replay.h>

#include <algorithm>
#include <string_view>

#include "landlock_rules.h"
#include "region_set.h"
#include "render_argv.h"

namespace loom::bwrap {
namespace {

struct Counts {
  std::size_t ro = 0;
  std::size_t rw = 0;
  std::size_t mask = 0;
  std::size_t bind_ro = 0;
  std::size_t bind_rw = 0;
};

std::string named_operation(const MountOperation* operation) {
  if (operation == nullptr) return "no operation at all";
  if (operation->mount_class == MountClass::kRootTmpfs) return "the jail's own root tmpfs";
  return "`" + fragment_text(*operation) + "`";
}

// Replays one view for one policy's entries.
class Auditor {
 public:
  Auditor(const std::vector<MountOperation>& view, const RunMemo& memo)
      : view_(&view), memo_(&memo), replay_(view) {
    for (const Subject& subject : memo.subjects) {
      if (subject.role == PathRole::kWritableRoot) writable_roots_.insert(subject.real);
    }
  }

  [[nodiscard]] ViewAudit run() {
    for (const Subject& subject : memo_->subjects) judge(subject);
    return {.applied = applied(), .widened = std::move(widened_)};
  }

 private:
  void judge(const Subject& subject) {
    const MountOperation* operation = replay_.effective(subject.real);
    switch (subject.role) {
      case PathRole::kReadableRoot:
        return judge_readable(subject, operation);
      case PathRole::kWritableRoot:
        return judge_writable(subject, operation);
      case PathRole::kProtected:
        return judge_protected(subject, operation);
      case PathRole::kMount:
        return judge_mount(operation);
      case PathRole::kScratch:
        return judge_scratch(subject, operation);
      case PathRole::kSystemRoot:
      case PathRole::kPiece:
        return;
    }
  }

  void judge_readable(const Subject& subject, const MountOperation* operation) {
    const bool writable = operation != nullptr && is_writable(operation->mount_class);
    if (!writable || writable_roots_.covers(subject.real)) {
      ++counts_.ro;
    } else {
      widen("readable root", subject, "is writable", operation);
    }
  }

  void judge_writable(const Subject& subject, const MountOperation* operation) {
    if (operation == nullptr) return;
    if (is_host_writable(operation->mount_class)) {
      ++counts_.rw;
    } else if (operation->mount_class == MountClass::kMountReadOnly) {
      widen("writable root", subject, "is read-only", operation);
    }
  }

  void judge_protected(const Subject& subject, const MountOperation* operation) {
    if (operation != nullptr && is_writable(operation->mount_class)) {
      widen("protected path", subject, "is writable", operation);
    } else if (operation != nullptr && is_masked(operation->mount_class)) {
      ++counts_.mask;
    } else {
      widen("protected path", subject, "is readable, its mask was undone", operation);
    }
  }

  void judge_mount(const MountOperation* operation) {
    if (operation == nullptr) return;
    if (operation->mount_class == MountClass::kMountReadOnly) ++counts_.bind_ro;
    if (operation->mount_class == MountClass::kMountReadWrite) ++counts_.bind_rw;
  }

  void judge_scratch(const Subject& subject, const MountOperation* operation) {
    if (!memo_->scratch_is_tmpfs) return;
    if (operation != nullptr && operation->mount_class == MountClass::kScratchTmpfs) return;
    widen("tmpfs scratch", subject, "is not in place", operation);
  }

  void widen(std::string_view kind, const Subject& subject, std::string_view predicate,
             const MountOperation* operation) {
    widened_.push_back("mounts: " + std::string(kind) + " " + subject.written.str() + " " +
                       std::string(predicate) + ": " + named_operation(operation) +
                       " is the final mount operation covering it");
  }

  [[nodiscard]] std::string applied() const {
    if (view_->empty()) return {};
    const MountOperation* root = replay_.effective("/");
    const bool minimal = root != nullptr && root->mount_class == MountClass::kRootTmpfs;
    return "mounts:ro=" + std::to_string(counts_.ro) + ",rw=" + std::to_string(counts_.rw) +
           ",mask=" + std::to_string(counts_.mask) + ",bind_ro=" + std::to_string(counts_.bind_ro) +
           ",bind_rw=" + std::to_string(counts_.bind_rw) +
           ",scratch=" + (memo_->scratch_is_tmpfs ? "tmpfs" : "bind") +
           ",base=" + (minimal ? "minimal" : "host-view") + ",plan=" + view_digest(*view_);
  }

  const std::vector<MountOperation>* view_;
  const RunMemo* memo_;
  ViewReplay replay_;
  RegionSet writable_roots_;
  Counts counts_;
  std::vector<std::string> widened_;
};

bool names_any(const RunMemo& memo, PathRole role) {
  return std::any_of(memo.subjects.begin(), memo.subjects.end(),
                     [role](const Subject& subject) { return subject.role == role; });
}

// Everything the policy asked for that only bubblewrap could have held.
std::string degraded_skip(const RunMemo& memo) {
  // No right of Landlock's covers chmod, chown or utimensat.
  std::string missing = "namespaces, minimal view, modes and times of files";
  const bool landlock = memo.kernel.landlock_abi > 0;
  if (names_any(memo, PathRole::kReadableRoot)) missing += ", readable roots (all can be read)";
  if (names_any(memo, PathRole::kWritableRoot) && !landlock) {
    missing += ", writable roots (all can be written)";
  }
  if (names_any(memo, PathRole::kProtected)) missing += ", protected paths";
  if (names_any(memo, PathRole::kMount)) missing += ", explicit mounts";
  missing += memo.scratch_is_tmpfs ? ", tmpfs scratch" : ", scratch as a mount of its own";
  const std::string& broken = memo.kernel.launcher.broken;
  const std::string why = broken.empty() ? "no bubblewrap (" + memo.launcher_reason + ")" : broken;
  return "skip:bwrap: " + why + ", so not held: " + missing;
}

// What bubblewrap could not do, and did without (guard 5.2).
void add_fallbacks(std::vector<std::string>& entries, const LauncherFacts& launcher) {
  const auto add = [&entries](std::string_view name, const std::string& why) {
    if (!why.empty()) entries.push_back(std::string("unheld:").append(name) + "=" + why);
  };
  add("pid-namespace", launcher.no_pids);
  add("cgroup-namespace", launcher.no_cgroup);
  add("private-ptys", launcher.no_devices);
  add("mount-points", launcher.no_cover);
}

// Of a launch of version 3.
void add_unhardened(std::vector<std::string>& entries, const RunMemo& memo) {
  const LauncherFacts& launcher = memo.kernel.launcher;
  if (!launcher.no_userns_ban.empty()) {
    entries.push_back("unheld:disable-userns=" + launcher.no_userns_ban);
  }
  if (!launcher.no_closed_masks.empty()) {
    entries.push_back("unheld:closed-masks=" + launcher.no_closed_masks);
  }
  if (!memo.confines_programs) return;
  if (memo.kernel.landlock_abi == 0) {
    entries.push_back("unheld:exec-landlock=" + memo.kernel.landlock_reason);
  } else if (memo.seals_memory && !memo.kernel.seccomp) {
    entries.push_back("unheld:exec-landlock=memory files can be executed: " +
                      memo.kernel.seccomp_reason);
  }
}

// What the filter does not hold, as far as stage 2 has no word on it.
void add_unfiltered(std::vector<std::string>& entries, const RunMemo& memo) {
  const bool filtered = memo.kernel.seccomp;
  if (!filtered) {
    entries.push_back("unheld:seccomp-deny=" + memo.kernel.seccomp_reason);
  } else if (memo.jailed && memo.kernel.landlock_abi == 0) {
    // ptrace(2) and /proc/1/mem reach it, and nothing filters it.
    entries.emplace_back(
        "unheld:seccomp-deny=without Landlock a command can make process 1 of its jail act for it");
  }
  // No right of Landlock's that this build knows covers connecting to a socket that the view shows.
  if (!filtered || !memo.deny_unix_sockets) entries.emplace_back("unheld:unix-path");
  if (!filtered && !memo.cuts_network()) entries.emplace_back("unheld:socket-families");
}

std::vector<std::string> extras(const std::vector<MountOperation>& view, const RunMemo& memo) {
  std::vector<std::string> entries;
  if (memo.jailed) {
    entries.emplace_back(memo.kernel.launcher.by_handle ? "mounts-by=handle" : "mounts-by=name");
  }
  const auto pins = std::count_if(view.begin(), view.end(), [](const MountOperation& operation) {
    return operation.mount_class == MountClass::kPin;
  });
  if (pins > 0) entries.push_back("pins=" + std::to_string(pins));
  // A mask hides a name. Whatever else is called the same stays readable, and is not ours to find.
  if (memo.jailed && memo.linked_masks > 0) {
    entries.push_back("mask-links=" + std::to_string(memo.linked_masks));
  }
  if (memo.jailed) add_fallbacks(entries, memo.kernel.launcher);
  if (memo.hardened) add_unhardened(entries, memo);
  add_unfiltered(entries, memo);
  const std::uint32_t abi = memo.kernel.landlock_abi;
  if (abi > 0 && abi < kReferAbi) entries.emplace_back("unheld:refer");
  // In a jail the mounts hold it.
  if (abi > 0 && abi < kTruncateAbi && !memo.jailed) entries.emplace_back("unheld:truncate");
  if (abi > 0 && abi < kScopeAbi) entries.emplace_back("unheld:signal-scope");
  return entries;
}

}  // namespace

ViewAudit audit_view(const std::vector<MountOperation>& view, const RunMemo& memo) {
  if (view.empty()) return {};
  return Auditor(view, memo).run();
}

Result<Audit> audit(const JailPlan& plan) {
  LOOM_TRY(const RunMemo memo, decode_run_memo(plan.backend));
  Audit audit;
  audit.extras = extras(plan.view, memo);
  if (!memo.jailed) {
    audit.when_witnessed = {degraded_skip(memo)};
    audit.when_silent = audit.when_witnessed;
    return audit;
  }
  ViewAudit view = audit_view(plan.view, memo);
  audit.when_witnessed = {"bwrap"};
  if (!view.applied.empty()) audit.when_witnessed.push_back(std::move(view.applied));
  audit.when_silent = {
      "skip:bwrap: no report came from inside the jail, so nothing shows that bubblewrap built it"};
  audit.widened = std::move(view.widened);
  audit.widened.insert(audit.widened.end(), memo.link_remarks.begin(), memo.link_remarks.end());
  return audit;
}

}  // namespace loom::bwrap
