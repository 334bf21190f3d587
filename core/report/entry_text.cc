#include "report/entry_text.h"

#include <loom/utf8.h>

namespace loom {

std::string one_line(std::string_view text) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  const Utf8 clean = Utf8::sanitise(text);
  std::string line;
  for (const char c : clean.str()) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f) {
      line += c;
      continue;
    }
    line += "\\x";
    line += kDigits[byte >> 4U];
    line += kDigits[byte & 0xfU];
  }
  return line;
}

std::string_view entry_tag(std::string_view entry) noexcept {
  if (is_skip(entry)) entry.remove_prefix(kSkipPrefix.size());
  entry = entry.substr(0, entry.find(':'));
  return entry.substr(0, entry.find('='));
}

}  // namespace loom
