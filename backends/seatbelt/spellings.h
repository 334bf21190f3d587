#pragma once

#include <loom/absolute_path.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace loom::seatbelt {

// /tmp, /var and /etc lead to what /private has under the same name, on every macOS. The same place
// under its other spelling, or nothing when it has none.
[[nodiscard]] std::optional<AbsolutePath> other_spelling(const AbsolutePath& path);

// The path and, where there is one, its other spelling.
[[nodiscard]] std::vector<AbsolutePath> spellings(const AbsolutePath& path);

// What a rule of a profile takes the path for: it tells neither cases nor normal forms of a name
// apart. "/" and the key of each component (law/name_key.h); of "/" itself "/". Rules about two
// paths are about one place when this is the same, and a directory's comes before what lies in it.
[[nodiscard]] std::string folded(const AbsolutePath& path);

// In byte order, each once.
void sort_unique(std::vector<AbsolutePath>& paths);

// The text of the directory above; empty for the root.
[[nodiscard]] std::string_view above(std::string_view path) noexcept;

}  // namespace loom::seatbelt
