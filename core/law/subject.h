#pragma once

#include <loom/absolute_path.h>
#include <loom/facts.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "law/folded_path.h"

namespace loom::law {

// What a walk held in its hands, as identities. Whatever is left out is unknown, and then only
// names are compared.
struct Passage {
  std::vector<FileIdentity> passed{};       // every directory it went through, in any order
  std::optional<FileIdentity> parent{};     // the directory that holds the last name
  std::optional<FileIdentity> directory{};  // the object itself, if it is a directory
  friend bool operator==(const Passage&, const Passage&) = default;
};

// What the law is asked about: a file by its real path, or whatever is inside a directory.
//
// The path is real: no link is in it. Nothing is looked up, so holding a subject says nothing about
// what is there.
class Subject {
 public:
  enum class Kind : std::uint8_t { kFile, kInside };

  // Never the root: it is a directory.
  [[nodiscard]] static Subject file(AbsolutePath real, Passage passage = {});
  [[nodiscard]] static Subject inside(AbsolutePath directory, Passage passage = {});

  [[nodiscard]] Kind kind() const noexcept { return kind_; }
  [[nodiscard]] bool is_file() const noexcept { return kind_ == Kind::kFile; }
  [[nodiscard]] const AbsolutePath& real() const noexcept { return real_; }
  [[nodiscard]] const FoldedPath& folded() const noexcept { return folded_; }
  [[nodiscard]] const Passage& passage() const noexcept { return passage_; }

  // Whether the walk went through this directory or landed on it.
  [[nodiscard]] bool touched(const FileIdentity& directory) const noexcept;

 private:
  Subject(Kind kind, AbsolutePath real, Passage passage);

  Kind kind_;
  AbsolutePath real_;
  FoldedPath folded_;
  Passage passage_;
};

}  // namespace loom::law
