#include "resolve.h"

#include <algorithm>
#include <cerrno>
#include <string_view>

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
  ResolvedPolicy resolved{
      .system_roots = {},
      .readable = look_up_all(index, policy.readable_roots),
      .writable = look_up_all(index, policy.writable_roots),
      .protected_paths = look_up_all(index, policy.protected_paths),
      .mounts = {},
      .scratch = index.look_up(policy.scratch.host_path.value_or(tmpfs)),
      .scratch_is_tmpfs = policy.scratch.is_tmpfs(),
      .directories = HostDirectories(facts.directories),
      .host_mounts = facts.mounts,
  };
  for (const std::string_view root : kSystemRoots) {
    resolved.system_roots.push_back(index.look_up(known_path(root)));
  }
  for (const ExplicitMount& mount : policy.mounts) {
    resolved.mounts.push_back(
        {.at = index.look_up(mount.path), .writable = mount.writable, .required = mount.required});
  }
  return resolved;
}

}  // namespace loom::bwrap
