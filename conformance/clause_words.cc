#include "clause_words.h"

#include <algorithm>
#include <cctype>

namespace loom::conformance {
namespace {

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

bool says_unheld(std::string_view entry) {
  return entry.starts_with("skip:") || entry.starts_with("unheld:");
}

}  // namespace

std::string entry_that_names(const std::vector<std::string>& entries, const Words& words,
                             std::string_view path) {
  for (const std::string& entry : entries) {
    if (!says_unheld(entry)) continue;
    const std::string lower = lower_case(entry);
    const bool named = std::any_of(words.begin(), words.end(), [&lower](std::string_view word) {
      return lower.find(word) != std::string::npos;
    });
    if (named || (!path.empty() && entry.find(path) != std::string::npos)) return entry;
  }
  return {};
}

std::string_view applied_tag(std::string_view entry) {
  if (says_unheld(entry)) return {};
  const std::string_view name = entry.substr(0, entry.find(':'));
  return name.substr(0, name.find('='));
}

std::string entry_that_claims(const std::vector<std::string>& entries, const Words& tags) {
  for (const std::string& entry : entries) {
    const std::string_view tag = applied_tag(entry);
    if (!tag.empty() && std::find(tags.begin(), tags.end(), tag) != tags.end()) return entry;
  }
  return {};
}

}  // namespace loom::conformance
