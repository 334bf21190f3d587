#include "mac_jail.h"

#include <algorithm>
#include <cerrno>

namespace loom::seatbelt::test {

Vnode vnode_of(NodeKind kind) noexcept {
  switch (kind) {
    case NodeKind::kDirectory:
      return Vnode::kDirectory;
    case NodeKind::kFile:
      return Vnode::kRegular;
    case NodeKind::kDevice:
      return Vnode::kCharacterDevice;
    case NodeKind::kLink:
      return Vnode::kSymlink;
  }
  return Vnode::kOther;
}

Answer MacJail::answer(Operation operation, const std::string& real) const {
  const auto kind = tree_->at(real);
  return profile_->answer(
      {.operation = operation, .path = real, .vnode = kind ? vnode_of(*kind) : Vnode::kRegular});
}

bool MacJail::may_follow(const Landing& landing) const {
  return std::all_of(landing.links.begin(), landing.links.end(), [this](const LinkFact& link) {
    return may(Operation::kReadMetadata, link.place.str());
  });
}

bool MacJail::looks_at(std::string_view path) const {
  const Landing& landing = tree_->walk(path);
  return landing.kind && may_follow(landing) && may(Operation::kReadMetadata, landing.real);
}

bool MacJail::resolves(std::string_view path) const {
  const Landing& landing = tree_->walk(path);
  return landing.kind &&
         std::all_of(landing.met.begin(), landing.met.end(),
                     [this](const std::string& met) { return may(Operation::kReadMetadata, met); });
}

bool MacJail::reads(std::string_view path) const {
  const Landing& landing = tree_->walk(path);
  return landing.kind && may_follow(landing) && may(Operation::kReadData, landing.real);
}

bool MacJail::writes(std::string_view path) const {
  const Landing& landing = tree_->walk(path);
  return landing.kind && landing.kind != NodeKind::kDirectory && may_follow(landing) &&
         may(Operation::kWriteData, landing.real);
}

bool MacJail::may_make(std::string_view path, Vnode kind) const {
  const Landing& landing = tree_->walk(path, kind == Vnode::kRegular);
  if (landing.error != ENOENT) return false;
  if (tree_->at(parent_of(landing.real)) != NodeKind::kDirectory) return false;
  return may_follow(landing) &&
         profile_->allows(
             {.operation = Operation::kWriteCreate, .path = landing.real, .vnode = kind});
}

bool MacJail::creates(std::string_view path) const { return may_make(path, Vnode::kRegular); }

bool MacJail::makes_directory(std::string_view path) const {
  return may_make(path, Vnode::kDirectory);
}

bool MacJail::removes(std::string_view path) const {
  const Landing& landing = tree_->walk(path, false);
  return landing.kind && may_follow(landing) && may(Operation::kWriteUnlink, landing.real);
}

bool MacJail::renames(std::string_view from, std::string_view to) const {
  const Landing& source = tree_->walk(from, false);
  const Landing& target = tree_->walk(to, false);
  if (!removes(from) || !may_follow(target)) return false;
  if (tree_->at(parent_of(target.real)) != NodeKind::kDirectory) return false;
  if (target.kind && !may(Operation::kWriteUnlink, target.real)) return false;
  return profile_->allows(
      {.operation = Operation::kWriteCreate, .path = target.real, .vnode = vnode_of(*source.kind)});
}

bool MacJail::runs(std::string_view path) const {
  const Landing& landing = tree_->walk(path);
  return landing.kind == NodeKind::kFile && may_follow(landing) &&
         may(Operation::kExec, landing.real) && may(Operation::kReadData, landing.real);
}

}  // namespace loom::seatbelt::test
