#include "view.h"

#include <loom/view_replay.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "pins.h"
#include "region_set.h"
#include "shown_names.h"
#include "survey.h"
#include "system_roots.h"

namespace loom::bwrap {
namespace {

MountOperation operation(MountClass mount_class, MountForm form, const NamedPath& path) {
  return {.mount_class = mount_class,
          .form = form,
          .region = path.real,
          .written = path.written,
          .identity = path.is_missing() ? FileIdentity{} : path.identity,
          .parent_identity = path.parent_identity};
}

// An operation that shows nothing of the host.
MountOperation own_operation(MountClass mount_class, MountForm form, const AbsolutePath& region) {
  return {.mount_class = mount_class,
          .form = form,
          .region = region,
          .written = region,
          .identity = {},
          .parent_identity = {}};
}

// One grant a region: the strictly higher class wins, the loser is not emitted at all.
class GrantTable {
 public:
  void insert(MountOperation grant) {
    std::string key = grant.region.str();
    const auto [at, inserted] = table_.try_emplace(std::move(key), grant);
    if (!inserted && grant.mount_class > at->second.mount_class) at->second = std::move(grant);
  }

  // Whether some grant shows, or hides, what the host has at `path`.
  [[nodiscard]] bool covers(const AbsolutePath& path) const {
    const auto root = table_.find("/");
    if (root != table_.end() && root->second.mount_class != MountClass::kRootTmpfs) return true;
    for (AbsolutePath at = path; !at.is_root(); at = at.parent()) {
      if (table_.contains(at.str())) return true;
    }
    return false;
  }

  // In the byte order of the regions.
  [[nodiscard]] std::vector<MountOperation> take() {
    std::vector<MountOperation> grants;
    grants.reserve(table_.size());
    for (auto& [region, grant] : table_) grants.push_back(std::move(grant));
    return grants;
  }

 private:
  std::map<std::string, MountOperation> table_;
};

// Where a system root is mounted. With the host at "/", its link is already there and bubblewrap
// cannot mount on it; on an empty root the name itself is made a mount point.
NamedPath prepared_root(const NamedPath& root, bool whole_host) {
  NamedPath prepared = root;
  if (!whole_host || root.is_missing()) prepared.real = root.written;
  return prepared;
}

// Of the jail itself, or shown by a mount that is laid after the grants.
bool is_settled_later(const ResolvedPolicy& policy, const AbsolutePath& path) {
  if (path.is_within(known_path(kProcRoot)) || path.is_within(known_path(kDevRoot))) return true;
  return std::any_of(policy.mounts.begin(), policy.mounts.end(), [&path](const NamedMount& mount) {
    return !mount.at.is_missing() && path.is_within(mount.at.real);
  });
}

// What the exec table admits, as far as nothing else shows it: what cannot be read does not run. A
// link to "/" must not show the whole host.
void insert_admitted(const ResolvedPolicy& policy, GrantTable& grants) {
  std::vector<const ExecRule*> rules;
  for (const ExecRule& rule : policy.admitted) {
    const bool object = rule.scope == ExecScope::kDirectory || rule.scope == ExecScope::kFile;
    if (!object || rule.identity == FileIdentity{} || rule.real.is_root()) continue;
    if (!is_settled_later(policy, rule.real)) rules.push_back(&rule);
  }
  std::sort(rules.begin(), rules.end(), [](const ExecRule* a, const ExecRule* b) {
    return a->real != b->real ? a->real < b->real : a->written < b->written;
  });
  for (const ExecRule* rule : rules) {
    if (grants.covers(rule->real)) continue;
    grants.insert({.mount_class = MountClass::kExecShown,
                   .form = MountForm::kReadOnlyBindTry,
                   .region = rule->real,
                   .written = AbsolutePath::parse(rule->written).value_or(rule->real),
                   .identity = rule->identity,
                   .parent_identity = rule->parent_identity});
  }
}

std::vector<MountOperation> grant_phase(const ResolvedPolicy& policy) {
  GrantTable grants;
  grants.insert(own_operation(MountClass::kRootTmpfs, MountForm::kNone, AbsolutePath::root()));
  const bool whole_host = policy.shows_whole_host();
  for (const NamedPath& root : policy.system_roots) {
    grants.insert(operation(MountClass::kReadable, MountForm::kReadOnlyBindTry,
                            prepared_root(root, whole_host)));
  }
  for (const NamedPath& root : policy.readable) {
    grants.insert(operation(MountClass::kReadable, MountForm::kReadOnlyBindTry, root));
  }
  for (const NamedPath& root : policy.writable) {
    grants.insert(operation(MountClass::kWritable, MountForm::kBind, root));
  }
  if (policy.scratch_is_tmpfs) {
    MountOperation scratch =
        own_operation(MountClass::kScratchTmpfs, MountForm::kTmpfs, policy.scratch.real);
    scratch.written = policy.scratch.written;
    grants.insert(std::move(scratch));
  } else {
    grants.insert(operation(MountClass::kWritable, MountForm::kBind, policy.scratch));
  }
  insert_admitted(policy, grants);
  return grants.take();
}

MountOperation mask_at(const AbsolutePath& region, PathKind kind, const FileIdentity& identity,
                       const NamedPath& hidden, MountForm directory_form) {
  const bool file = kind == PathKind::kRegular || kind == PathKind::kOther;
  return {.mount_class = MountClass::kProtected,
          .form = file ? MountForm::kNullDevice : directory_form,
          .region = region,
          .written = hidden.written,
          .identity = identity,
          .parent_identity = {}};
}

// A second mask under a mask would make bubblewrap refuse to start: the ancestor is read-only
// already.
void append_uncovered(std::vector<MountOperation> masks, std::vector<MountOperation>& view) {
  std::sort(masks.begin(), masks.end(), [](const MountOperation& a, const MountOperation& b) {
    return a.region != b.region ? a.region < b.region : a.written < b.written;
  });
  RegionSet masked;
  for (const MountOperation& candidate : masks) {
    if (masked.covers(candidate.region)) continue;
    masked.insert(candidate.region);
    view.push_back(candidate);
  }
}

// One at each name that `shown`, the view without masks, gives to what is protected.
std::vector<MountOperation> all_masks(const ResolvedPolicy& policy,
                                      const std::vector<MountOperation>& shown) {
  const MountForm directory =
      policy.closed_masks ? MountForm::kClosedDirectory : MountForm::kEmptyDirectory;
  std::vector<MountOperation> masks;
  masks.reserve(policy.protected_paths.size());
  for (const NamedPath& path : policy.protected_paths) {
    masks.push_back(mask_at(path.real, path.kind, path.identity, path, directory));
    masks.back().parent_identity = path.parent_identity != FileIdentity{}
                                       ? path.parent_identity
                                       : policy.directories.identity(path.real.parent());
  }
  const ViewReplay replay(shown);
  const ShownDirectories directories(policy, replay);
  for (const ShownName& name : shown_names(policy, shown)) {
    masks.push_back(mask_at(name.region, name.kind, name.identity, *name.hidden, directory));
    masks.back().parent_identity = directories.identity(name.region.parent());
  }
  return masks;
}

std::vector<MountOperation> mask_phase(std::vector<MountOperation> own,
                                       std::vector<MountOperation> masks) {
  append_uncovered(std::move(masks), own);
  std::stable_sort(own.begin(), own.end(), [](const MountOperation& a, const MountOperation& b) {
    return a.region != b.region ? a.region < b.region : a.mount_class < b.mount_class;
  });
  return own;
}

MountOperation explicit_mount(const NamedMount& mount) {
  if (mount.writable) {
    return operation(MountClass::kMountReadWrite,
                     mount.required ? MountForm::kBind : MountForm::kBindTry, mount.at);
  }
  return operation(MountClass::kMountReadOnly,
                   mount.required ? MountForm::kReadOnlyBind : MountForm::kReadOnlyBindTry,
                   mount.at);
}

std::vector<MountOperation> explicit_phase(const ResolvedPolicy& policy) {
  std::vector<MountOperation> phase;
  phase.reserve(policy.mounts.size());
  for (const NamedMount& mount : policy.mounts) phase.push_back(explicit_mount(mount));
  // The written name breaks the tie of two mounts that lead to one object, or the policy's order
  // would.
  std::sort(phase.begin(), phase.end(), [](const MountOperation& a, const MountOperation& b) {
    if (a.region != b.region) return a.region < b.region;
    return a.mount_class != b.mount_class ? a.mount_class < b.mount_class : a.written < b.written;
  });
  return phase;
}

void append(const std::vector<MountOperation>& phase, std::vector<MountOperation>& view) {
  view.insert(view.end(), phase.begin(), phase.end());
}

}  // namespace

std::vector<MountOperation> build_view(const ResolvedPolicy& policy) {
  const std::vector<MountOperation> grants = grant_phase(policy);
  const std::vector<MountOperation> own = {
      own_operation(MountClass::kProc, MountForm::kProc, known_path(kProcRoot)),
      own_operation(MountClass::kDev, MountForm::kDev, known_path(kDevRoot))};
  const std::vector<MountOperation> mounts = explicit_phase(policy);

  std::vector<MountOperation> shown = grants;
  append(own, shown);
  append(mounts, shown);
  std::vector<MountOperation> view = grants;
  append(mask_phase(own, all_masks(policy, shown)), view);
  append(mounts, view);
  return with_pins(policy, std::move(view));
}

}  // namespace loom::bwrap
