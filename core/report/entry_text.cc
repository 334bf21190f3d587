#include "report/entry_text.h"

#include <loom/utf8.h>

#include <array>
#include <cstdio>

namespace loom {

std::string one_line(std::string_view text) { return printable(text, kMaxEntryBytes); }

std::string_view entry_tag(std::string_view entry) noexcept {
  if (is_skip(entry)) entry.remove_prefix(kSkipPrefix.size());
  entry = entry.substr(0, entry.find(':'));
  return entry.substr(0, entry.find('='));
}

std::string binary_size(std::uint64_t bytes) {
  static constexpr std::array<const char*, 7> kUnits = {"B",   "KiB", "MiB", "GiB",
                                                        "TiB", "PiB", "EiB"};
  if (bytes < 1024) return std::to_string(bytes) + " B";
  double size = static_cast<double>(bytes);
  std::size_t unit = 0;
  // 1023.95 would be rounded up to "1024.0" of the smaller unit.
  for (; size >= 1023.95 && unit + 1 < kUnits.size(); ++unit) size /= 1024;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f %s", size, kUnits[unit]);
  return text.data();
}

}  // namespace loom
