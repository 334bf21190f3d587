#include "model_tree.h"

#include <loom/check.h>

#include <cerrno>
#include <deque>
#include <functional>
#include <utility>

#include "profile_reader.h"

namespace loom::seatbelt::test {
namespace {

constexpr std::size_t kMaxLinks = 40;

AbsolutePath absolute(const std::string& text) {
  auto path = AbsolutePath::parse(text);
  LOOM_CHECK(path.has_value());
  return *std::move(path);
}

// In front of what is pending.
void splice(std::string_view path, std::deque<std::string>& pending) {
  std::vector<std::string> components;
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    if (end > at) components.emplace_back(path.substr(at, end - at));
    at = end + 1;
  }
  pending.insert(pending.begin(), components.begin(), components.end());
}

PathKind kind_of(NodeKind kind) {
  switch (kind) {
    case NodeKind::kDirectory:
      return PathKind::kDirectory;
    case NodeKind::kFile:
      return PathKind::kRegular;
    case NodeKind::kDevice:
    case NodeKind::kLink:
      break;
  }
  return PathKind::kOther;
}

// What a walk cannot go through ends it: whatever is pending is appended.
void give_up(Landing& landing, int error, const std::deque<std::string>& pending) {
  landing.error = error;
  landing.kind.reset();
  for (const std::string& name : pending) landing.real = child_of(landing.real, name);
}

}  // namespace

FileIdentity identity_at(const std::string& real) {
  return {.device = 7, .inode = std::hash<std::string>{}(real) | 1U};
}

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string child_of(const std::string& directory, std::string_view name) {
  return (directory == "/" ? directory : directory + '/') + std::string(name);
}

bool lies_in(std::string_view path, std::string_view directory) {
  if (directory == "/") return true;
  return path.substr(0, directory.size()) == directory &&
         (path.size() == directory.size() || path[directory.size()] == '/');
}

ModelTree::ModelTree() { nodes_["/"] = {}; }

ModelTree& ModelTree::add(const std::string& at, Node node) {
  for (std::string above = parent_of(at); above != "/"; above = parent_of(above)) {
    nodes_.try_emplace(above, Node{});
  }
  nodes_[at] = std::move(node);
  walks_.clear();
  return folds_ ? finds_any_case() : *this;
}

ModelTree& ModelTree::finds_any_case() {
  folds_ = true;
  for (const auto& [path, node] : nodes_) spellings_.try_emplace(folded_path(path), path);
  return *this;
}

const std::string* ModelTree::stored(const std::string& path, bool folds) const {
  if (folds) {
    const auto found = spellings_.find(folded_path(path));
    return found == spellings_.end() ? nullptr : &found->second;
  }
  const auto found = nodes_.find(path);
  return found == nodes_.end() ? nullptr : &found->first;
}

std::optional<NodeKind> ModelTree::at(const std::string& real) const {
  const auto found = nodes_.find(real);
  return found == nodes_.end() ? std::nullopt : std::optional(found->second.kind);
}

std::vector<std::string> ModelTree::all() const {
  std::vector<std::string> paths;
  for (const auto& [path, node] : nodes_) paths.push_back(path);
  return paths;
}

const Landing& ModelTree::walk(std::string_view path, bool follow, bool folds) const {
  std::string question(path);
  question += follow ? " follow" : "";
  question += folds ? " any case" : "";
  const auto [at, fresh] = walks_.try_emplace(std::move(question));
  if (fresh) at->second = walk_afresh(path, follow, folds);
  return at->second;
}

Landing ModelTree::walk_afresh(std::string_view path, bool follow, bool folds) const {
  Landing landing{.real = "/", .kind = NodeKind::kDirectory, .met = {"/"}};
  std::deque<std::string> pending;
  splice(path, pending);
  while (!pending.empty()) {
    if (landing.kind != NodeKind::kDirectory) {
      give_up(landing, ENOTDIR, pending);
      break;
    }
    const std::string name = std::exchange(pending.front(), {});
    pending.pop_front();
    if (name == ".") continue;
    if (name == "..") {
      landing.real = parent_of(landing.real);
      continue;
    }
    const std::string* const found = stored(child_of(landing.real, name), folds);
    if (found == nullptr) {
      pending.push_front(name);
      give_up(landing, ENOENT, pending);
      break;
    }
    const Node& node = nodes_.at(*found);
    landing.met.push_back(*found);
    if (node.kind != NodeKind::kLink || (pending.empty() && !follow)) {
      landing.real = *found;
      landing.kind = node.kind;
      continue;
    }
    if (landing.links.size() == kMaxLinks) {
      give_up(landing, ELOOP, pending);
      break;
    }
    landing.links.push_back({.place = absolute(*found), .target = node.target});
    splice(node.target, pending);
    if (node.target.front() == '/') landing.real = "/";
  }
  return landing;
}

PathFact ModelTree::fact(const AbsolutePath& path, const std::set<std::string>& made) const {
  const Landing landing = walk(path.str());
  const AbsolutePath real = absolute(landing.real);
  const std::string above = real.parent().str();
  PathFact fact{.path = path, .real = real, .links = landing.links, .error = landing.error};
  if (at(above) == NodeKind::kDirectory || made.contains(above)) {
    fact.parent_identity = identity_at(above);
  }
  if (landing.kind) {
    fact.kind = kind_of(*landing.kind);
    fact.link_count = 1;
  }
  if (landing.kind || made.contains(landing.real)) fact.identity = identity_at(landing.real);
  return fact;
}

std::vector<PathFact> ModelTree::facts(const std::vector<SurveyPath>& paths,
                                       const std::set<std::string>& made) const {
  std::vector<PathFact> facts;
  facts.reserve(paths.size());
  for (const SurveyPath& asked : paths) facts.push_back(fact(asked.path, made));
  return facts;
}

std::vector<DirectoryFact> ModelTree::directories(const std::vector<PathFact>& facts,
                                                  const std::set<std::string>& made) const {
  std::set<std::string> above;
  for (const PathFact& fact : facts) {
    for (std::string at = parent_of(fact.real.str()); above.insert(at).second;) at = parent_of(at);
  }
  std::vector<DirectoryFact> directories;
  for (const std::string& path : above) {
    const bool placeholder = made.contains(path);
    if (!placeholder && at(path) != NodeKind::kDirectory) continue;
    directories.push_back(
        {.path = absolute(path), .identity = identity_at(path), .placeholder = placeholder});
  }
  return directories;
}

}  // namespace loom::seatbelt::test
