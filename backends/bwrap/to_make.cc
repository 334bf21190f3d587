#include "to_make.h"

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>
#include <string>

#include "errno_text.h"

namespace loom::bwrap {
namespace {

// No walk goes deeper (guard::Refusal, too_deep), and bubblewrap's time grows with the square.
Result<void> refuse_too_deep(const NamedPath& path) {
  constexpr std::ptrdiff_t kMaxDepth = 250;
  const std::string& text = path.real.str();
  if (std::count(text.begin(), text.end(), '/') <= kMaxDepth) return {};
  return fail(ErrorCode::kDenied, "protected path " + path.written.str() +
                                      " does not exist and lies more than " +
                                      std::to_string(kMaxDepth) + " directories deep");
}

// The first component that is no directory, on the way to a path where one is.
AbsolutePath what_is_in_the_way(const NamedPath& path, const HostDirectories& directories) {
  AbsolutePath at = path.real.parent();
  while (!at.is_root() && directories.find(at.parent()) == nullptr) at = at.parent();
  return at;
}

Result<void> refuse_unknown(const NamedPath& path, const HostDirectories& directories) {
  if (path.error == ENOTDIR) {
    const std::string file = what_is_in_the_way(path, directories).str();
    return fail(ErrorCode::kDenied,
                "protected path " + path.written.str() +
                    ", inside a region the command may write, cannot be kept absent: " + file +
                    " is not a directory, and the command could make it one; protect " + file);
  }
  if (path.error != ENOENT) {
    return fail(ErrorCode::kDenied, "protected path " + path.written.str() +
                                        ", inside a region the command may write, cannot be "
                                        "looked at: " +
                                        errno_text(path.error));
  }
  // With nothing known of the way there, everything on it would count as absent.
  if (directories.lacks(AbsolutePath::root())) {
    return fail(ErrorCode::kInvalidRequest,
                "facts: no directory above protected path " + path.written.str() + " is known");
  }
  return {};
}

}  // namespace

ProtectedPaths::ProtectedPaths(const ResolvedPolicy& policy) {
  by_spelling_.reserve(policy.protected_paths.size());
  for (const NamedPath& path : policy.protected_paths) {
    by_spelling_.emplace(path.written.str(), &path);
  }
}

const NamedPath* ProtectedPaths::behind(const MountOperation& operation) const noexcept {
  if (operation.mount_class != MountClass::kProtected) return nullptr;
  const auto found = by_spelling_.find(operation.written.str());
  return found == by_spelling_.end() ? nullptr : found->second;
}

Result<std::vector<MadeName>> names_to_make(const ResolvedPolicy& policy,
                                            const std::vector<MountOperation>& view,
                                            const ViewReplay& replay,
                                            const ProtectedPaths& hidden) {
  std::map<AbsolutePath, bool> names;  // whether it is only on the way
  for (const MountOperation& operation : view) {
    const NamedPath* const path = hidden.behind(operation);
    if (path == nullptr || !path->is_missing()) continue;
    const MountOperation* const around = replay.effective(operation.region.parent());
    if (around == nullptr || !is_host_writable(around->mount_class)) continue;
    LOOM_TRY_VOID(refuse_unknown(*path, policy.directories));
    LOOM_TRY_VOID(refuse_too_deep(*path));
    names[path->real] = false;
    for (AbsolutePath at = path->real.parent(); policy.directories.lacks(at); at = at.parent()) {
      names.try_emplace(at, true);
    }
  }
  std::vector<MadeName> sorted;
  sorted.reserve(names.size());
  for (const auto& [path, intermediate] : names) {
    sorted.push_back({.path = path, .intermediate = intermediate});
  }
  return sorted;
}

bool are_made(const ResolvedPolicy& policy, const std::vector<MadeName>& to_make) {
  std::set<AbsolutePath> made;
  for (const NamedPath& path : policy.protected_paths) {
    if (path.identity != FileIdentity{}) made.insert(path.real);
  }
  return std::all_of(to_make.begin(), to_make.end(), [&](const MadeName& name) {
    return name.intermediate ? policy.directories.find(name.path) != nullptr
                             : made.contains(name.path);
  });
}

}  // namespace loom::bwrap
