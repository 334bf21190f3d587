#include "refuse.h"

#include <loom/other_names.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "errno_text.h"
#include "region_set.h"
#include "survey.h"
#include "system_roots.h"

namespace loom::bwrap {
namespace {

constexpr std::size_t kMaxArguments = 8'900;

template <class Strings>
std::string joined(const Strings& texts) {
  std::string all;
  for (const std::string& text : texts) {
    if (!all.empty()) all += ", ";
    all += text;
  }
  return all;
}

// "<list>: <path> (<errno text>)"
std::string missing_entry(PathRole list, const NamedPath& path) {
  return std::string(path_role_name(list)) + ": " + path.written.str() + " (" +
         errno_text(path.error) + ")";
}

Result<void> refuse_if_any(const std::vector<std::string>& entries) {
  if (entries.empty()) return {};
  return fail(ErrorCode::kDenied, joined(entries));
}

Result<void> unavailable(const std::string& what, const std::string& why) {
  return fail(ErrorCode::kUnsupported, "confinement_unavailable: " + what + ": " + why);
}

// Looks for links that the command could replace.
class LinkJudge {
 public:
  explicit LinkJudge(const ViewReplay& replay) : replay_(&replay) {}

  [[nodiscard]] Result<void> one(std::string_view what, const NamedPath& path) {
    const LinkFact* link = replaceable_link(path);
    if (link == nullptr) return {};
    const std::string named = std::string(what) + " " + path.written.str();
    if (path.is_missing()) {
      return fail(ErrorCode::kDenied, named + " goes through the link " + link->place.str() +
                                          ", which the command can replace, to something that "
                                          "does not exist: put the link elsewhere, or make its "
                                          "target");
    }
    remarks_.push_back("mounts: " + named + " is reached through a link the command can replace");
    return {};
  }

  [[nodiscard]] Result<void> all(std::string_view what, const std::vector<NamedPath>& paths) {
    for (const NamedPath& path : paths) LOOM_TRY_VOID(one(what, path));
    return {};
  }

  [[nodiscard]] Result<void> mounts(const std::vector<NamedMount>& mounts) {
    for (const NamedMount& mount : mounts) LOOM_TRY_VOID(one("mount", mount.at));
    return {};
  }

  [[nodiscard]] std::vector<std::string> take_remarks() { return std::move(remarks_); }

 private:
  // The first such link on the way to a path; null when there is none.
  [[nodiscard]] const LinkFact* replaceable_link(const NamedPath& path) const {
    for (const LinkFact& link : path.links) {
      const MountOperation* around = replay_->effective(link.place.parent());
      if (around != nullptr && is_host_writable(around->mount_class)) return &link;
    }
    return nullptr;
  }

  const ViewReplay* replay_;
  std::vector<std::string> remarks_;
};

std::set<AbsolutePath> paths_of(const std::vector<MadeName>& names) {
  std::set<AbsolutePath> paths;
  for (const MadeName& name : names) paths.insert(name.path);
  return paths;
}

Result<void> refuse_overlap(std::string_view what, const NamedPath& path, std::string_view other) {
  return fail(ErrorCode::kDenied, std::string(what) + " " + path.written.str() + " leads to " +
                                      path.real.str() + ", which lies in a " + std::string(other));
}

Result<void> refuse_mounts_over_other_names(const ResolvedPolicy& policy,
                                            const RegionSet& mounted) {
  if (policy.mounts.empty()) return {};
  const MountNames host(policy.host_mounts);
  for (const NamedPath& path : policy.protected_paths) {
    for (const OtherName& name : host.of(path.real)) {
      const bool above = mounted.covers(name.path);
      const bool below = std::any_of(
          policy.mounts.begin(), policy.mounts.end(),
          [&name](const NamedMount& mount) { return mount.at.real.is_within(name.path); });
      if (!above && !below) continue;
      return fail(ErrorCode::kDenied, "a mount of the policy meets " + name.path.str() +
                                          ", where a mount of the host shows protected path " +
                                          path.written.str() + " once more");
    }
  }
  return {};
}

}  // namespace

Result<void> refuse_missing_mounts(const ResolvedPolicy& policy) {
  std::vector<std::string> missing;
  for (const NamedMount& mount : policy.mounts) {
    if (mount.required && mount.at.is_missing()) {
      missing.push_back(missing_entry(PathRole::kMount, mount.at));
    }
  }
  return refuse_if_any(missing);
}

Result<void> refuse_protected_proc(const ResolvedPolicy& policy) {
  const AbsolutePath proc = known_path(kProcRoot);
  for (const NamedPath& path : policy.protected_paths) {
    if (proc.is_within(path.real) || proc.is_within(path.written)) {
      return fail(ErrorCode::kDenied, "protected path " + path.written.str() +
                                          " is at or above /proc, which the jail itself needs");
    }
    if (path.real.is_within(proc) || path.written.is_within(proc)) {
      return fail(ErrorCode::kDenied, "protected path " + path.written.str() +
                                          " is below /proc, which in the jail is the jail's own");
    }
    if (path.real == known_path(kDevRoot) || path.written == known_path(kDevRoot)) {
      return fail(ErrorCode::kDenied, "protected path /dev: the jail has its own, and needs it");
    }
  }
  return {};
}

// Security: the host's /proc would show the command every process of the machine.
Result<void> refuse_host_proc(const ResolvedPolicy& policy) {
  const AbsolutePath proc = known_path(kProcRoot);
  for (const NamedMount& mount : policy.mounts) {
    if (mount.at.real.is_within(proc) || proc.is_within(mount.at.real)) {
      return fail(ErrorCode::kDenied, "mount " + mount.at.written.str() +
                                          " would put the host's /proc over the jail's own");
    }
  }
  return {};
}

Result<void> refuse_mounts_over_masks(const ResolvedPolicy& policy) {
  RegionSet mounted;
  RegionSet hidden;
  for (const NamedMount& mount : policy.mounts) mounted.insert(mount.at.real);
  for (const NamedPath& path : policy.protected_paths) hidden.insert(path.real);
  for (const NamedMount& mount : policy.mounts) {
    if (hidden.covers(mount.at.real)) return refuse_overlap("mount", mount.at, "protected path");
  }
  for (const NamedPath& path : policy.protected_paths) {
    if (mounted.covers(path.real)) return refuse_overlap("protected path", path, "mount");
  }
  return refuse_mounts_over_other_names(policy, mounted);
}

Result<std::vector<std::string>> judge_links(const ResolvedPolicy& policy,
                                             const ViewReplay& replay) {
  LinkJudge judge(replay);
  LOOM_TRY_VOID(judge.all("protected path", policy.protected_paths));
  LOOM_TRY_VOID(judge.all("readable root", policy.readable));
  LOOM_TRY_VOID(judge.all("writable root", policy.writable));
  LOOM_TRY_VOID(judge.mounts(policy.mounts));
  LOOM_TRY_VOID(judge.one("scratch", policy.scratch));
  return judge.take_remarks();
}

Result<void> refuse_unmountable(const std::vector<MountOperation>& view, const ViewReplay& replay,
                                const ProtectedPaths& hidden,
                                const std::vector<MadeName>& to_make) {
  const std::set<AbsolutePath> made = paths_of(to_make);
  std::set<std::string> unmountable;
  for (const MountOperation& operation : view) {
    const NamedPath* const path = hidden.behind(operation);
    if (path == nullptr || !path->is_missing() || made.contains(path->real)) continue;
    const MountOperation* around = replay.effective(operation.region.parent());
    if (around == nullptr || !is_writable(around->mount_class)) {
      unmountable.insert(operation.written.str());
    }
  }
  if (unmountable.empty()) return {};
  return fail(ErrorCode::kDenied,
              "protected paths that do not exist and lie where the jail is "
              "read-only, so that nothing can be mounted there: " +
                  joined(unmountable));
}

Result<void> refuse_unlooked(const std::vector<MountOperation>& view, const ViewReplay& replay) {
  for (const MountOperation& operation : view) {
    const bool pin = operation.mount_class == MountClass::kPin;
    if (!pin && operation.mount_class != MountClass::kProtected) continue;
    const MountOperation* const around = replay.effective(operation.region.parent());
    if (around == nullptr || !is_host_backed(around->mount_class)) continue;
    const bool known = operation.parent_identity != FileIdentity{} &&
                       (!pin || operation.identity != FileIdentity{});
    if (known) continue;
    const std::string what =
        pin ? "directory " : "protected path " + operation.written.str() + " is shown at ";
    return fail(ErrorCode::kDenied, what + operation.region.str() + (pin ? "" : ", which") +
                                        " could not be looked at on the host");
  }
  return {};
}

Result<void> refuse_missing_sources(const ResolvedPolicy& policy) {
  std::vector<std::string> missing;
  for (const NamedPath& root : policy.writable) {
    if (root.is_missing()) missing.push_back(missing_entry(PathRole::kWritableRoot, root));
  }
  if (!policy.scratch_is_tmpfs && policy.scratch.is_missing()) {
    missing.push_back(missing_entry(PathRole::kScratch, policy.scratch));
  }
  return refuse_if_any(missing);
}

Result<void> refuse_unbuildable(const RunMemo& memo) {
  const LauncherFacts& launcher = memo.kernel.launcher;
  if (memo.cuts_network() && !launcher.no_network.empty()) {
    return fail(
        ErrorCode::kUnsupported,
        "network: it is to be cut, and bubblewrap makes no network of the jail's own here: " +
            launcher.no_network);
  }
  // Security: without one of the two the command reads other processes' environments.
  if (!launcher.no_pids.empty() && memo.kernel.landlock_abi == 0) {
    return fail(ErrorCode::kUnsupported,
                "bubblewrap makes no process table of the jail's own here (" + launcher.no_pids +
                    "), and there is no Landlock to keep the command from looking into the "
                    "processes of the host's (" +
                    memo.kernel.landlock_reason + ")");
  }
  return {};
}

Result<void> refuse_unconfinable(const RunMemo& memo, bool required) {
  const KernelFacts& kernel = memo.kernel;
  if (!memo.jailed) {
    const std::string& broken = kernel.launcher.broken;
    return unavailable("the jail", broken.empty() ? memo.launcher_reason : broken);
  }
  // Untried, the plan only answers a question, and no launch comes of it.
  if (kernel.launcher.tried && !kernel.launcher.by_handle)
    return unavailable("mounts by handle", kernel.launcher.no_handles);
  if (kernel.landlock_unclear) {
    return unavailable("what the kernel holds cannot be told, Landlock", kernel.landlock_reason);
  }
  if (!kernel.launcher.no_pids.empty() && kernel.landlock_abi == 0) {
    return unavailable("a process table of the jail's own", kernel.launcher.no_pids);
  }
  if (memo.cuts_network() && !kernel.launcher.no_network.empty()) {
    return unavailable("a network of the jail's own", kernel.launcher.no_network);
  }
  if (memo.cuts_network() && !kernel.seccomp) {
    return unavailable("the filter that cuts the network", kernel.seccomp_reason);
  }
  if (!memo.confines_programs || !required) return {};
  if (kernel.landlock_abi == 0)
    return unavailable("the exec table, Landlock", kernel.landlock_reason);
  if (memo.seals_memory && !kernel.seccomp) {
    return unavailable("the filter that refuses executable memory files", kernel.seccomp_reason);
  }
  return {};
}

Result<void> refuse_too_many_arguments(std::size_t arguments) {
  if (arguments <= kMaxArguments) return {};
  return fail(ErrorCode::kDenied, "the policy needs " + std::to_string(arguments) +
                                      " bubblewrap arguments, and at most " +
                                      std::to_string(kMaxArguments) + " can be passed");
}

}  // namespace loom::bwrap
