#include "guard/freeze.h"

#include <loom/check.h>

#include <cerrno>
#include <string>
#include <utility>

#include "guard/file_system.h"
#include "guard/path_walk.h"
#include "guard/placeholder.h"

namespace loom::guard {
namespace {

AbsolutePath parse_walked(const std::string& text) {
  auto path = AbsolutePath::parse(text);
  LOOM_CHECK(path.has_value());  // made of names and link texts, which hold no NUL
  return *std::move(path);
}

// The path itself where not even the root was entered.
AbsolutePath where_it_ends(std::string_view path, const PathWalk& walk) {
  if (walk.stack().empty()) return parse_walked(std::string(path));
  return parse_walked(walk.real_text() + '/' + walk.component() + walk.rest());
}

PathKind kind_of(mode_t mode) noexcept {
  if (S_ISDIR(mode)) return PathKind::kDirectory;
  return S_ISREG(mode) ? PathKind::kRegular : PathKind::kOther;
}

void set_object(PathFact& fact, const struct stat& about) {
  fact.kind = kind_of(about.st_mode);
  fact.identity = identity_of(about);
  fact.link_count = about.st_nlink;
}

bool is_placeholder_directory(const PathWalk::Directory& directory) {
  return bears_mark(directory.about.st_mode) && is_placeholder(directory.handle.get());
}

void make_missing(PathFact& fact) {
  fact.kind = PathKind::kMissing;
  fact.link_count = 0;
  fact.error = ENOENT;
}

std::vector<DirectoryFact> directories_above(const AbsolutePath& real, const PathWalk& walk) {
  std::vector<DirectoryFact> above;
  std::string text;
  for (const PathWalk::Directory& directory : walk.stack()) {
    if (!directory.name.empty()) text += '/' + directory.name;
    const AbsolutePath path = parse_walked(text.empty() ? "/" : text);
    // What follows a failed step is cleaned, and may climb out of where the walk was.
    if (path == real || !real.is_within(path)) break;
    above.push_back({.path = path,
                     .identity = identity_of(directory.about),
                     .placeholder = is_placeholder_directory(directory)});
  }
  return above;
}

void set_landing(PathFact& fact, const PathWalk& walk) {
  const std::vector<PathWalk::Directory>& stack = walk.stack();
  if (walk.landed_on_directory()) {
    set_object(fact, stack.back().about);
    fact.parent_identity = identity_of(stack[stack.size() - (stack.size() > 1 ? 2 : 1)].about);
    if (is_placeholder_directory(stack.back())) make_missing(fact);
    return;
  }
  fact.parent_identity = identity_of(stack.back().about);
  if (walk.landed_on_object()) {
    set_object(fact, walk.object_status());
  } else {
    fact.error = ENOENT;
  }
}

}  // namespace

Frozen freeze(const AbsolutePath& path) { return freeze(path, system_walk_calls()); }

Frozen freeze(const AbsolutePath& path, const WalkCalls& calls) {
  PathWalk walk({.leaf = LeafMode::kResolve, .refuse_links = false, .enter_automounts = true},
                calls);
  const auto landed = walk.run(path.str());

  Frozen frozen{.fact = {.path = path, .real = where_it_ends(path.str(), walk)}, .directories = {}};
  PathFact& fact = frozen.fact;
  if (landed) {
    set_landing(fact, walk);
  } else {
    fact.error = landed.error().sys_errno != 0 ? landed.error().sys_errno : ELOOP;
  }
  frozen.directories = directories_above(fact.real, walk);
  if (fact.kind == PathKind::kMissing && !frozen.directories.empty()) {
    const DirectoryFact& last = frozen.directories.back();
    if (last.path == fact.real.parent()) fact.parent_identity = last.identity;
    if (last.placeholder) fact.error = ENOENT;
  }
  fact.links = std::move(walk.links());
  frozen.link_directories = std::move(walk.link_directories());
  return frozen;
}

Result<AbsolutePath> real_path(std::string_view text) {
  LOOM_TRY_VOID(AbsolutePath::parse(text));
  PathWalk walk({.leaf = LeafMode::kResolve, .refuse_links = false, .enter_automounts = true});
  static_cast<void>(walk.run(text).has_value());
  return where_it_ends(text, walk);
}

}  // namespace loom::guard
