#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "identity/identity_refusal.h"

namespace loom {

// What is published. A key that no entry names is absent; an empty value is a value.
struct GitIdentity {
  std::optional<std::string> name{};   // user.name; valid UTF-8 without NUL
  std::optional<std::string> email{};  // user.email, likewise
  friend bool operator==(const GitIdentity&, const GitIdentity&) = default;
};

inline constexpr std::size_t kMaxEntriesBytes = 65'536;  // of the JSON text

// Reads ENTRIES_JSON: one array of pairs of strings, [["user.name", "A"], ["user.email", "a@b"]],
// and nothing after it but white space. The last value of a key wins. No comments, no byte order
// mark, no unpaired surrogates. Nesting deeper than a pair is refused where it begins, so its depth
// costs nothing.
[[nodiscard]] IdentityResult<GitIdentity> decode_entries(std::string_view json);

}  // namespace loom
