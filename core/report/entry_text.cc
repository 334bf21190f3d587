#include "report/entry_text.h"

#include <loom/utf8.h>

namespace loom {

std::string one_line(std::string_view text) { return printable(text, kMaxEntryBytes); }

std::string_view entry_tag(std::string_view entry) noexcept {
  if (is_skip(entry)) entry.remove_prefix(kSkipPrefix.size());
  entry = entry.substr(0, entry.find(':'));
  return entry.substr(0, entry.find('='));
}

}  // namespace loom
