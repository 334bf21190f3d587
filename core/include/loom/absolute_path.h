#pragma once

#include <loom/result.h>

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace loom {

// A path that starts at the root and means what it says.
//
// Invariant: begins with '/', contains no NUL, no "." or ".." component, no empty component and
// no trailing slash (the root itself excepted). parse gets there by cleaning the text, so
// "/srv/app/" and "/srv/app" are one region. Purely lexical: holding one says nothing about whether
// the file exists or where its symlinks lead. Bytes, not characters: any encoding, no case folding.
//
// On Windows a text with a drive is absolute as well, and the drive is the first component:
// "C:\work\x", "c:/work/x" and "/c:/work/x" are the path "/C:/work/x".
class AbsolutePath {
 public:
  // Fails with kInvalidRequest for a text that is empty, relative, or holds a NUL. On Windows it is
  // parse_with_drives.
  [[nodiscard]] static Result<AbsolutePath> parse(std::string_view text);
  // parse as it is on Windows; the same on every system. ".." never leaves a drive. Beyond what
  // parse refuses: a name of the network ("//server/share"), and a backslash in a text that begins
  // with '/', because Windows would read components where this type has one.
  [[nodiscard]] static Result<AbsolutePath> parse_with_drives(std::string_view text);
  // Whether parse could take it, but for a byte that it refuses.
  [[nodiscard]] static bool is_absolute(std::string_view text) noexcept;
  [[nodiscard]] static AbsolutePath root() { return AbsolutePath("/"); }

  [[nodiscard]] const std::string& str() const noexcept { return text_; }
  [[nodiscard]] bool is_root() const noexcept { return text_.size() == 1; }

  // Component-wise: "/srv/data" is within "/srv", "/srv-old" is not. A path is within itself, and
  // every path is within "/".
  [[nodiscard]] bool is_within(const AbsolutePath& ancestor) const noexcept;

  // The directory that holds the last component; the root is its own parent.
  [[nodiscard]] AbsolutePath parent() const;
  // The last component; empty for the root.
  [[nodiscard]] std::string_view name() const noexcept;

  friend auto operator<=>(const AbsolutePath&, const AbsolutePath&) = default;

 private:
  explicit AbsolutePath(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

// "/C:/work" for "C:\work", "c:\work" or "C:/work": neither cleaned nor checked any further.
// Nothing for a text that does not begin with a drive and a separator. The same on every system.
[[nodiscard]] std::optional<std::string> spell_drive_path(std::string_view text);

}  // namespace loom
