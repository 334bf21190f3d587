#include "host/path_survey.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "guard/file_system.h"
#include "guard/freeze.h"
#include "guard/open_without_links.h"
#include "guard/path_walk.h"
#include "guard/placeholder.h"

namespace loom::host {

namespace {

using guard::FileSystemKind;
using guard::identity_of;

PathKind kind_of(const struct stat& about) noexcept {
  if (S_ISDIR(about.st_mode)) return PathKind::kDirectory;
  return S_ISREG(about.st_mode) ? PathKind::kRegular : PathKind::kOther;
}

PathFact fact_without_links(const AbsolutePath& path) {
  return PathFact{.path = path,
                  .real = path,
                  .kind = PathKind::kMissing,
                  .identity = {},
                  .parent_identity = {},
                  .link_count = 0,
                  .links = {},
                  .error = 0};
}

// The name is the last component, so the NUL ends it. The root has none, and is its own parent.
const char* name_in_parent(const AbsolutePath& path) noexcept {
  return path.is_root() ? "." : path.name().data();
}

}  // namespace

// Four system calls when no link is on the way, which is nearly always: the parent in one step, and
// the object by name in it. One is left where the last path had the same parent.
//
// Nothing when a link is met (but one at the end), or an automounter.
std::optional<PathFact> PathSurveyor::look_in_one_step(const AbsolutePath& path) {
  struct stat about {};
  auto fact = look_in(asked_, path, about);
  if (!fact || !S_ISLNK(about.st_mode)) return fact;
  return look_at_target(path, about);
}

// /bin -> usr/bin and its kind: one link at the very end, whose target has none and climbs nowhere.
std::optional<PathFact> PathSurveyor::look_at_target(const AbsolutePath& path,
                                                     const struct stat& link) {
  if (!asked_.kind) {
    asked_.kind = guard::file_system_of(asked_.handle.get());
    tape_.told_kind(asked_.slot, *asked_.kind);
  }
  if (guard::why_not_followed(link, asked_.about, *asked_.kind)) return std::nullopt;
  const std::string target = link_text(asked_.handle.get(), path.name().data());
  tape_.told_link(asked_.slot, path.name(), target);
  if (target.empty() || target.find("..") != std::string::npos) return std::nullopt;
  const std::string parent = path.parent().is_root() ? "/" : path.parent().str() + '/';
  const auto led = AbsolutePath::parse(target.front() == '/' ? target : parent + target);
  if (!led || target.back() == '/') return std::nullopt;
  struct stat about {};
  auto fact = look_in(targets_, *led, about);
  if (!fact || S_ISLNK(about.st_mode)) return std::nullopt;
  fact->path = path;
  fact->links.push_back(LinkFact{.place = path, .target = target});
  return fact;
}

// `about` is what the last component is, all zeros where it is not there.
std::optional<PathFact> PathSurveyor::look_in(Directory& parent, const AbsolutePath& path,
                                              struct stat& about) {
  PathFact fact = fact_without_links(path);
  fact.error = enter(parent, path.parent());
  if (fact.error != 0) {
    // A link would have said ELOOP, so up to the missing part the path is its own real path. Who
    // may not search has to be asked step by step: nobody may in a placeholder, where nothing is.
    const bool answer = fact.error == ENOENT || fact.error == ENOTDIR;
    return answer ? std::optional(std::move(fact)) : std::nullopt;
  }
  if (parent.automount) return std::nullopt;
  fact.parent_identity = identity_of(parent.about);
  const char* const name = name_in_parent(path);
  if (::fstatat(parent.handle.get(), name, &about, guard::kLookOnly) != 0) {
    const int error = errno;
    tape_.not_looked(parent.slot, name, error);
    fact.error = parent.placeholder ? ENOENT : error;
    return fact;
  }
  tape_.looked(parent.slot, name, about);
  if (is_automount_in(parent, name, about)) return std::nullopt;
  fact.kind = kind_of(about);
  fact.identity = identity_of(about);
  fact.link_count = about.st_nlink;
  if (may_be_placeholder(about) && guard::is_placeholder(parent.handle.get(), name)) {
    fact.kind = PathKind::kMissing;
    fact.link_count = 0;
    fact.error = ENOENT;
  }
  return fact;
}

// 0 or errno.
int PathSurveyor::enter(Directory& directory, const AbsolutePath& path) {
  if (directory.handle && directory.path == path) return 0;
  guard::Opened opened = guard::open_without_links(path, O_DIRECTORY);
  struct stat about {};
  if (opened.handle && ::fstat(opened.handle.get(), &about) != 0) {
    opened = {.handle = {}, .error = errno};
  }
  directory.handle = std::move(opened.handle);
  if (!directory.handle) {
    tape_.not_entered(directory.slot, path, opened.error);
    if (opened.error != ELOOP) known_.try_emplace(path);
    return opened.error;
  }
  tape_.entered(directory.slot, path, about);
  directory.path = path;
  directory.about = about;
  directory.kind.reset();
  directory.placeholder =
      may_be_placeholder(about) && guard::is_placeholder(directory.handle.get());
  directory.automount = is_automount(directory);
  known_[path].fact = DirectoryFact{
      .path = path, .identity = identity_of(about), .placeholder = directory.placeholder};
  return 0;
}

// What lies in one is not on the tape.
bool PathSurveyor::may_be_placeholder(const struct stat& about) {
  const bool may_be = guard::bears_mark(about.st_mode);
  if (may_be) tape_.spoil();
  return may_be;
}

bool PathSurveyor::may_be_automount(const struct stat& about) const {
  return guard::may_be_automount(about) &&
         std::find(ordinary_.begin(), ordinary_.end(), about.st_dev) == ordinary_.end();
}

bool PathSurveyor::is_automount(FileSystemKind kind, dev_t device) {
  if (kind == FileSystemKind::kAutomount) return true;
  ordinary_.push_back(device);
  return false;
}

bool PathSurveyor::is_automount(const Directory& directory) {
  if (!may_be_automount(directory.about)) return false;
  const FileSystemKind kind = guard::file_system_of(directory.handle.get());
  tape_.told_kind(directory.slot, kind);
  return is_automount(kind, directory.about.st_dev);
}

bool PathSurveyor::is_automount_in(const Directory& parent, const char* name,
                                   const struct stat& about) {
  if (about.st_dev == parent.about.st_dev || !may_be_automount(about)) return false;
  const UniqueFd handle = guard::open_handle(parent.handle.get(), name);
  if (!handle) {
    tape_.spoil();
    return false;
  }
  const FileSystemKind kind = guard::file_system_of(handle.get());
  tape_.told_kind_of(parent.slot, name, kind);
  return is_automount(kind, about.st_dev);
}

PathFact PathSurveyor::walk(const AbsolutePath& path) {
  guard::Frozen frozen = guard::freeze(path);
  tape_.froze(path, frozen);
  for (const DirectoryFact& directory : frozen.directories) {
    known_[directory.path].fact = directory;
  }
  return std::move(frozen.fact);
}

PathFact PathSurveyor::look(const AbsolutePath& path) {
  // A name that was not asked of its directory may be another spelling of what is there.
  auto quick = guard::kNamesHaveSpellings ? std::nullopt : look_in_one_step(path);
  PathFact fact = quick ? std::move(*quick) : walk(path);
  note(fact.real);
  return fact;
}

void PathSurveyor::note(const AbsolutePath& real) {
  if (real.is_root()) return;
  AbsolutePath parent = real.parent();
  if (parents_.empty() || parents_.back() != parent) parents_.push_back(std::move(parent));
}

PathSurveyor::Known& PathSurveyor::find_directory(const AbsolutePath& path) {
  const auto known = known_.find(path);
  if (known != known_.end()) return known->second;
  Directory directory{WalkTape::Slot::kAbove};
  static_cast<void>(enter(directory, path));
  return known_[path];
}

std::vector<DirectoryFact> PathSurveyor::directories() {
  for (const AbsolutePath& parent : parents_) {
    for (AbsolutePath path = parent;; path = path.parent()) {
      Known& known = find_directory(path);
      if (std::exchange(known.above, true) || path.is_root()) break;
    }
  }
  std::vector<DirectoryFact> sorted;
  for (const auto& [path, known] : known_) {
    if (known.above && known.fact) sorted.push_back(*known.fact);
  }
  return sorted;
}

PathFact survey_path(const AbsolutePath& path) { return PathSurveyor().look(path); }

}  // namespace loom::host
