#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace loom {

inline constexpr std::size_t kMaxEntryBytes = 16'384;

// `text` as one line of valid UTF-8: what is neither printable nor UTF-8 becomes \xNN, and a text
// longer than kMaxEntryBytes is cut with an ellipsis. What every entry of a report goes through.
[[nodiscard]] std::string one_line(std::string_view text);

// "512 B", "64.0 KiB", "1.5 GiB": powers of 1024, one digit.
[[nodiscard]] std::string binary_size(std::uint64_t bytes);

// The layer an entry speaks of: the text before the first ':' and of that before the first '='; of
// a skip what follows "skip:" (docs/enforcement-tags.md 2).
[[nodiscard]] std::string_view entry_tag(std::string_view entry) noexcept;

inline constexpr std::string_view kSkipPrefix = "skip:";
[[nodiscard]] inline bool is_skip(std::string_view entry) noexcept {
  return entry.substr(0, kSkipPrefix.size()) == kSkipPrefix;
}

}  // namespace loom
