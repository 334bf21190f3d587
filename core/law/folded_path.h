#pragma once

#include <loom/absolute_path.h>

#include <string>
#include <string_view>

namespace loom::law {

// A path as exclusions read it: each component's key (name_key.h), as many as the path has. No fold
// reaches over a '/'.
class FoldedPath {
 public:
  explicit FoldedPath(const AbsolutePath& path);

  // As AbsolutePath::is_within: by component, itself included.
  [[nodiscard]] bool is_within(const FoldedPath& ancestor) const noexcept;
  // The last component's key; empty for the root.
  [[nodiscard]] std::string_view name() const noexcept;

  // "/" before each key; empty for the root.
  [[nodiscard]] const std::string& str() const noexcept { return text_; }

  friend bool operator==(const FoldedPath&, const FoldedPath&) = default;

 private:
  std::string text_;
};

}  // namespace loom::law
