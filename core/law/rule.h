#pragma once

#include <loom/absolute_path.h>
#include <loom/facts.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "law/folded_path.h"
#include "law/subject.h"

namespace loom::law {

enum class Scope : std::uint8_t { kAny, kDirectory, kFile, kName };

// "any", "dir", "file" or "name".
[[nodiscard]] std::string_view scope_name(Scope scope) noexcept;

// Where a rule was written, for reports: the law itself never asks. One entry can have become
// several rules.
struct Origin {
  // The layer of what an absent table means.
  static constexpr std::size_t kNobody = std::numeric_limits<std::size_t>::max();

  std::size_t layer = 0;     // 0 is the base policy
  std::size_t index = 0;     // in its list
  Scope kind = Scope::kAny;  // as written; kAny is the table's default
  std::string written{};     // the path or name, as written

  friend bool operator==(const Origin&, const Origin&) = default;
};

// How an exclusion came to hold.
enum class Match : std::uint8_t {
  kStored,  // under the very name; a name exclusion, which is folded by nature, counts here too
  kFolded,  // under another spelling
  kObject,  // the object has another name, which leads to the same directory
};

// "stored", "folded" or "object".
[[nodiscard]] std::string_view match_name(Match match) noexcept;

// A positive rule. Reads names as stored, byte for byte: merging two names here would grant.
class Allowance {
 public:
  [[nodiscard]] static Allowance any(Origin origin);
  // What is inside the directory; the directory itself is no program. `real` is where the written
  // path led when it was frozen.
  [[nodiscard]] static Allowance directory(AbsolutePath real, Origin origin);
  [[nodiscard]] static Allowance file(AbsolutePath real, Origin origin);

  [[nodiscard]] bool holds(const Subject& subject) const noexcept;
  // The widest subject that this holds: whichever allowance holds it holds all that this does.
  [[nodiscard]] Subject own_subject() const;

  [[nodiscard]] Scope scope() const noexcept { return scope_; }
  // The root for kAny.
  [[nodiscard]] const AbsolutePath& real() const noexcept { return real_; }
  [[nodiscard]] const Origin& origin() const noexcept { return origin_; }
  friend bool operator==(const Allowance&, const Allowance&) = default;

 private:
  Allowance(Scope scope, AbsolutePath real, Origin origin);

  Origin origin_;
  Scope scope_;
  AbsolutePath real_;
};

// Where an excluded path led when it was frozen. An absent one has the real path of its deepest
// existing directory and the names that are missing, appended.
struct Place {
  AbsolutePath real;
  std::optional<FileIdentity> directory{};  // the object, if it is a directory
  std::optional<FileIdentity> parent{};     // the directory that holds the last name, if it exists
  std::vector<FileIdentity> above{};        // every existing directory above, in any order
  friend bool operator==(const Place&, const Place&) = default;
};

// A negative rule. Reads names folded, so that no spelling escapes: merging two names here can only
// refuse. Holds besides by the identity of directories: a directory has one parent, so the same one
// under another name is a bind mount. Files are not held by their identity (hard links, L5).
class Exclusion {
 public:
  [[nodiscard]] static Exclusion directory(Place place, Origin origin);
  [[nodiscard]] static Exclusion file(Place place, Origin origin);
  // Every file with this last component.
  [[nodiscard]] static Exclusion name(std::string_view name, Origin origin);

  // How it holds the subject; nothing if it does not.
  [[nodiscard]] std::optional<Match> holds(const Subject& subject) const noexcept;
  // Whether what this excludes lies strictly beneath the directory, so that moving the directory
  // would move it too. Never for a name.
  [[nodiscard]] bool lies_beneath(const Subject& directory) const noexcept;

  [[nodiscard]] Scope scope() const noexcept { return scope_; }
  // Nothing for a name.
  [[nodiscard]] const std::optional<Place>& place() const noexcept { return place_; }
  [[nodiscard]] const Origin& origin() const noexcept { return origin_; }
  friend bool operator==(const Exclusion&, const Exclusion&) = default;

 private:
  Exclusion(Scope scope, Place place, Origin origin);
  Exclusion(std::string key, Origin origin);

  [[nodiscard]] std::optional<Match> holds_inside(const Subject& subject) const noexcept;
  [[nodiscard]] std::optional<Match> holds_file(const Subject& file) const noexcept;

  Origin origin_;
  Scope scope_;
  std::optional<Place> place_;
  std::optional<FoldedPath> folded_;  // of the place
  std::string key_;                   // of the name
};

// A protected path, and an excluded one whose object is of the other kind than was written: the
// name is held as a file and as a directory.
[[nodiscard]] std::vector<Exclusion> exclude_both_kinds(const Place& place, const Origin& origin);

// A bare name: itself, and each file of that name that the search path finds, wherever its links
// lead.
[[nodiscard]] std::vector<Exclusion> exclude_name(std::string_view name,
                                                  const std::vector<Place>& found,
                                                  const Origin& origin);

}  // namespace loom::law
