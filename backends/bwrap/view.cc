#include "view.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "region_set.h"
#include "survey.h"
#include "system_roots.h"

namespace loom::bwrap {
namespace {

MountOperation operation(MountClass mount_class, MountForm form, const NamedPath& path) {
  return {.mount_class = mount_class,
          .form = form,
          .region = path.real,
          .written = path.written,
          .identity = path.identity,
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

  // In the byte order of the regions.
  void append_to(std::vector<MountOperation>& view) {
    for (auto& [region, grant] : table_) view.push_back(std::move(grant));
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

void append_grants(const ResolvedPolicy& policy, std::vector<MountOperation>& view) {
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
  grants.append_to(view);
}

MountOperation mask(const NamedPath& path) {
  const bool file = path.kind == PathKind::kRegular || path.kind == PathKind::kOther;
  return operation(MountClass::kProtected,
                   file ? MountForm::kNullDevice : MountForm::kEmptyDirectory, path);
}

// The name under which a system root that is a link shows a protected object once more, or nothing.
// A mask laid in one mount of an object does not show in another mount of it.
std::optional<AbsolutePath> alias_of(const AbsolutePath& hidden, const NamedPath& root) {
  if (root.real.is_within(hidden)) return root.written;
  if (!hidden.is_within(root.real) || root.real.is_root()) return std::nullopt;
  return known_path(root.written.str() + hidden.str().substr(root.real.str().size()));
}

void append_masks_in(const NamedPath& root, const std::vector<NamedPath>& hidden,
                     std::vector<MountOperation>& masks) {
  for (const NamedPath& path : hidden) {
    const auto alias = alias_of(path.real, root);
    if (!alias) continue;
    masks.push_back(mask(path));
    masks.back().region = *alias;
  }
}

void append_alias_masks(const ResolvedPolicy& policy, std::vector<MountOperation>& masks) {
  if (policy.shows_whole_host()) return;
  for (const NamedPath& root : policy.system_roots) {
    if (root.is_missing() || root.real == root.written) continue;
    append_masks_in(root, policy.protected_paths, masks);
  }
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

void append_masks(const ResolvedPolicy& policy, std::vector<MountOperation>& view) {
  std::vector<MountOperation> masks;
  masks.reserve(policy.protected_paths.size());
  for (const NamedPath& path : policy.protected_paths) masks.push_back(mask(path));
  append_alias_masks(policy, masks);

  std::vector<MountOperation> phase;
  phase.push_back(own_operation(MountClass::kProc, MountForm::kProc, known_path(kProcRoot)));
  phase.push_back(own_operation(MountClass::kDev, MountForm::kDev, known_path(kDevRoot)));
  append_uncovered(std::move(masks), phase);
  std::stable_sort(
      phase.begin(), phase.end(), [](const MountOperation& a, const MountOperation& b) {
        return a.region != b.region ? a.region < b.region : a.mount_class < b.mount_class;
      });
  std::move(phase.begin(), phase.end(), std::back_inserter(view));
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

void append_mounts(const ResolvedPolicy& policy, std::vector<MountOperation>& view) {
  std::vector<MountOperation> phase;
  phase.reserve(policy.mounts.size());
  for (const NamedMount& mount : policy.mounts) phase.push_back(explicit_mount(mount));
  // The written name breaks the tie of two mounts that lead to one object, or the policy's order
  // would.
  std::sort(phase.begin(), phase.end(), [](const MountOperation& a, const MountOperation& b) {
    if (a.region != b.region) return a.region < b.region;
    return a.mount_class != b.mount_class ? a.mount_class < b.mount_class : a.written < b.written;
  });
  std::move(phase.begin(), phase.end(), std::back_inserter(view));
}

}  // namespace

std::vector<MountOperation> build_view(const ResolvedPolicy& policy) {
  std::vector<MountOperation> view;
  append_grants(policy, view);
  append_masks(policy, view);
  append_mounts(policy, view);
  return view;
}

}  // namespace loom::bwrap
