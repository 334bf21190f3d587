#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "identity/decode_entries.h"
#include "identity/identity_refusal.h"

namespace loom {

inline constexpr std::size_t kMaxGitconfigBytes = 65'536;

// The file byte for byte: a [user] section with useConfigOnly, then name, then email, each if
// present. Backslash, double quote, newline, tab and backspace are escaped inside the quotes;
// everything else is literal, the carriage return included.
//
// Refused when longer than kMaxGitconfigBytes or than `file_bytes`, the policy's own limit for a
// file (nullopt: none).
[[nodiscard]] IdentityResult<std::string> render_gitconfig(const GitIdentity& identity,
                                                           std::optional<std::uint64_t> file_bytes);

}  // namespace loom
