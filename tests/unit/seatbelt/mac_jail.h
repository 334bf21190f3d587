#pragma once

#include <string>
#include <string_view>

#include "model_tree.h"
#include "profile_reader.h"

namespace loom::seatbelt::test {

// What a command can do on a Mac with this tree, under this profile. Every operation follows names
// as the kernel does and asks the profile about the objects it met: looking at a link on the way
// takes its metadata, searching a directory takes nothing. Whether an object is there is told apart
// from whether the profile minds: every operation on something that cannot be there is false.
// Borrows both.
class MacJail {
 public:
  MacJail(const Profile& profile, const ModelTree& tree) : profile_(&profile), tree_(&tree) {}

  // Metadata of the object itself; of every object on the way, as realpath(3) asks for it.
  [[nodiscard]] bool looks_at(std::string_view path) const;
  [[nodiscard]] bool resolves(std::string_view path) const;
  // Contents of a file, or names in a directory.
  [[nodiscard]] bool reads(std::string_view path) const;
  // Contents of a file or device that exists.
  [[nodiscard]] bool writes(std::string_view path) const;
  // A file where there is nothing, in a directory that is there.
  [[nodiscard]] bool creates(std::string_view path) const;
  [[nodiscard]] bool makes_directory(std::string_view path) const;
  // The name: a link is removed, not what it leads to.
  [[nodiscard]] bool removes(std::string_view path) const;
  [[nodiscard]] bool renames(std::string_view from, std::string_view to) const;
  // Executing reads.
  [[nodiscard]] bool runs(std::string_view path) const;

  // The profile's answer about one object by its real path, whether or not it is there.
  [[nodiscard]] Answer answer(Operation operation, const std::string& real) const;

 private:
  [[nodiscard]] bool may(Operation operation, const std::string& real) const {
    return answer(operation, real) == Answer::kAllowed;
  }
  [[nodiscard]] bool may_follow(const Landing& landing) const;
  [[nodiscard]] bool may_make(std::string_view path, Vnode kind) const;

  const Profile* profile_;
  const ModelTree* tree_;
};

[[nodiscard]] Vnode vnode_of(NodeKind kind) noexcept;

}  // namespace loom::seatbelt::test
