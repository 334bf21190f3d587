#include "resolve.h"

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "survey.h"
#include "system_roots.h"

namespace loom::bwrap {
namespace {

// The facts by path. A linear search for each of a thousand paths would show.
class FactIndex {
 public:
  explicit FactIndex(const std::vector<PathFact>& facts) {
    sorted_.reserve(facts.size());
    for (const PathFact& fact : facts) sorted_.push_back(&fact);
    std::sort(sorted_.begin(), sorted_.end(),
              [](const PathFact* a, const PathFact* b) { return a->path < b->path; });
  }

  [[nodiscard]] NamedPath look_up(const AbsolutePath& path) const {
    const auto at = std::lower_bound(
        sorted_.begin(), sorted_.end(), path,
        [](const PathFact* fact, const AbsolutePath& wanted) { return fact->path < wanted; });
    if (at == sorted_.end() || (*at)->path != path) return unknown(path);
    const PathFact& fact = **at;
    return {.written = path,
            .real = fact.real,
            .kind = fact.kind,
            .identity = fact.identity,
            .parent_identity = fact.parent_identity,
            .link_count = fact.link_count,
            .links = fact.links,
            .error = fact.error};
  }

 private:
  static NamedPath unknown(const AbsolutePath& path) {
    return {.written = path,
            .real = path,
            .kind = PathKind::kMissing,
            .identity = {},
            .parent_identity = {},
            .link_count = 0,
            .links = {},
            .error = ENOENT};
  }

  std::vector<const PathFact*> sorted_;
};

std::vector<NamedPath> look_up_all(const FactIndex& index, const std::vector<AbsolutePath>& paths) {
  std::vector<NamedPath> found;
  found.reserve(paths.size());
  for (const AbsolutePath& path : paths) found.push_back(index.look_up(path));
  return found;
}

// A directory that bears a placeholder's mark is absent for what this policy protects, there or
// further in: it may have been made for that. For everything else it is what it looks like. Whoever
// can give a directory that mode must not choose by it which grants of a policy count.
class Placeholders {
 public:
  explicit Placeholders(const std::vector<NamedPath>& hidden) : hidden_(&hidden) {}

  [[nodiscard]] NamedPath unless_ours(NamedPath path) const {
    if (!path.is_missing() || path.identity == FileIdentity{} || holds_hidden(path)) return path;
    path.kind = PathKind::kDirectory;
    path.error = 0;
    return path;
  }
  [[nodiscard]] std::vector<NamedPath> unless_ours(std::vector<NamedPath> paths) const {
    for (NamedPath& path : paths) path = unless_ours(std::move(path));
    return paths;
  }

 private:
  [[nodiscard]] bool holds_hidden(const NamedPath& path) const noexcept {
    return std::any_of(hidden_->begin(), hidden_->end(), [&path](const NamedPath& hidden) {
      return hidden.real.is_within(path.real);
    });
  }

  const std::vector<NamedPath>* hidden_;
};

bool has_root(const std::vector<NamedPath>& paths) noexcept {
  return std::any_of(paths.begin(), paths.end(),
                     [](const NamedPath& path) { return path.real.is_root(); });
}

}  // namespace

bool ResolvedPolicy::shows_whole_host() const noexcept {
  return has_root(readable) || has_root(writable) || scratch.real.is_root();
}

// With the host at "/", the links are in the view, and nothing is mounted on them.
const AbsolutePath& ResolvedPolicy::source_at(const AbsolutePath& region) const noexcept {
  const auto root =
      std::find_if(system_roots.begin(), system_roots.end(),
                   [&region](const NamedPath& candidate) { return candidate.written == region; });
  const bool linked = root != system_roots.end() && !root->is_missing() && !shows_whole_host();
  return linked ? root->real : region;
}

ResolvedPolicy resolve(const Policy& policy, const HostFacts& facts) {
  const FactIndex index(facts.paths);
  const AbsolutePath tmpfs = known_path(kScratchRoot);
  std::vector<NamedPath> hidden = look_up_all(index, policy.protected_paths);
  const Placeholders placeholders(hidden);
  ResolvedPolicy resolved{
      .system_roots = {},
      .readable = placeholders.unless_ours(look_up_all(index, policy.readable_roots)),
      .writable = placeholders.unless_ours(look_up_all(index, policy.writable_roots)),
      .protected_paths = {},
      .mounts = {},
      .scratch = placeholders.unless_ours(index.look_up(policy.scratch.host_path.value_or(tmpfs))),
      .scratch_is_tmpfs = policy.scratch.is_tmpfs(),
      .directories = HostDirectories(facts.directories),
      .host_mounts = facts.mounts,
  };
  for (const std::string_view root : kSystemRoots) {
    resolved.system_roots.push_back(index.look_up(known_path(root)));
  }
  for (const ExplicitMount& mount : policy.mounts) {
    resolved.mounts.push_back({.at = placeholders.unless_ours(index.look_up(mount.path)),
                               .writable = mount.writable,
                               .required = mount.required});
  }
  resolved.protected_paths = std::move(hidden);
  return resolved;
}

}  // namespace loom::bwrap
