#include "shown_names.h"

#include <loom/other_names.h>
#include <loom/view_replay.h>

#include <algorithm>
#include <utility>

namespace loom::bwrap {
namespace {

// A bind of the view.
struct Bind {
  const MountOperation* operation;
  const AbsolutePath* source;
  PathKind kind;  // of the source

  [[nodiscard]] bool is_moved() const noexcept { return *source != operation->region; }
};

PathKind kind_at(const ResolvedPolicy& policy, const AbsolutePath& source) {
  const auto search = [&source](const std::vector<NamedPath>& paths) {
    return std::find_if(paths.begin(), paths.end(),
                        [&source](const NamedPath& path) { return path.real == source; });
  };
  for (const auto* list : {&policy.readable, &policy.writable, &policy.system_roots}) {
    if (const auto at = search(*list); at != list->end()) return at->kind;
  }
  for (const NamedMount& mount : policy.mounts) {
    if (mount.at.real == source) return mount.at.kind;
  }
  for (const ExecRule& rule : policy.admitted) {
    if (rule.real != source) continue;
    return rule.scope == ExecScope::kDirectory ? PathKind::kDirectory : PathKind::kRegular;
  }
  return policy.scratch.kind;
}

std::vector<Bind> binds_of(const ResolvedPolicy& policy, const std::vector<MountOperation>& view) {
  std::vector<Bind> binds;
  for (const MountOperation& operation : view) {
    const bool shows_host =
        is_host_backed(operation.mount_class) && operation.identity != FileIdentity{};
    if (!shows_host) continue;
    const AbsolutePath& source = policy.source_at(operation.region);
    binds.push_back({.operation = &operation, .source = &source, .kind = kind_at(policy, source)});
  }
  return binds;
}

class NameSearch {
 public:
  NameSearch(const ResolvedPolicy& policy, const std::vector<MountOperation>& grants)
      : policy_(&policy), replay_(grants), binds_(binds_of(policy, grants)) {}

  [[nodiscard]] std::vector<ShownName> run() {
    const MountNames host(policy_->host_mounts);
    for (const NamedPath& path : policy_->protected_paths) {
      for (const Bind& bind : binds_) {
        if (bind.is_moved()) add(path, {.path = path.real, .part = false}, bind);
      }
      for (const OtherName& name : host.of(path.real)) {
        for (const Bind& bind : binds_) add(path, name, bind);
      }
    }
    return std::move(found_);
  }

 private:
  // Where `bind` shows what the host calls `name`, if it does.
  void add(const NamedPath& path, const OtherName& name, const Bind& bind) {
    const AbsolutePath& at = bind.operation->region;
    const bool inside = name.path.is_within(*bind.source);
    if (!inside && !bind.source->is_within(name.path)) return;
    AbsolutePath region = inside ? moved(name.path, *bind.source, at) : at;
    if (replay_.effective(region) != bind.operation) return;
    ShownName shown{.hidden = &path, .region = std::move(region), .kind = {}, .identity = {}};
    if (!inside) {
      shown.kind = bind.kind;
      shown.identity = bind.operation->identity;
    } else if (name.part) {
      shown.kind = kind_of_part(name.path);
      shown.identity = policy_->directories.identity(name.path);
    } else {
      shown.kind = path.kind;
      shown.identity = path.identity;
    }
    found_.push_back(std::move(shown));
  }

  // The facts know directories; whatever else lies in one of them is masked like a file.
  [[nodiscard]] PathKind kind_of_part(const AbsolutePath& name) const {
    const HostDirectories& known = policy_->directories;
    if (known.find(name) != nullptr) return PathKind::kDirectory;
    return known.find(name.parent()) != nullptr ? PathKind::kOther : PathKind::kMissing;
  }

  const ResolvedPolicy* policy_;
  ViewReplay replay_;
  std::vector<Bind> binds_;
  std::vector<ShownName> found_;
};

}  // namespace

std::vector<ShownName> shown_names(const ResolvedPolicy& policy,
                                   const std::vector<MountOperation>& grants) {
  if (policy.protected_paths.empty()) return {};
  return NameSearch(policy, grants).run();
}

FileIdentity ShownDirectories::identity(const AbsolutePath& directory) const {
  const MountOperation* const around = replay_->effective(directory);
  if (around == nullptr || !is_host_backed(around->mount_class)) return {};
  if (around->region == directory) return around->identity;
  return policy_->directories.identity(host_path(directory));
}

AbsolutePath ShownDirectories::host_path(const AbsolutePath& directory) const {
  const MountOperation* const around = replay_->effective(directory);
  if (around == nullptr || !is_host_backed(around->mount_class)) return directory;
  return moved(directory, around->region, policy_->source_at(around->region));
}

}  // namespace loom::bwrap
