#pragma once

#include <loom/result.h>

#include <compare>
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
class AbsolutePath {
 public:
  // Fails with kInvalidRequest for a text that is empty, relative, or holds a NUL.
  [[nodiscard]] static Result<AbsolutePath> parse(std::string_view text);
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

}  // namespace loom
