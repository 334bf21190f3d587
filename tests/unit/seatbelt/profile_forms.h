#pragma once

#include <loom/result.h>

#include <string>
#include <string_view>
#include <vector>

namespace loom::seatbelt::test {

// One form of a profile's text: a word, a text in quotes, a regular expression, or a list of forms.
struct Form {
  enum class Kind { kWord, kText, kRegex, kList };
  Kind kind = Kind::kList;
  std::string text{};         // of everything but a list, without quotes
  std::vector<Form> items{};  // of a list
  int line = 0;               // where it begins, from 1

  [[nodiscard]] bool is_word(std::string_view word) const {
    return kind == Kind::kWord && text == word;
  }
  // A list whose first item is this word.
  [[nodiscard]] bool is_call(std::string_view word) const {
    return kind == Kind::kList && !items.empty() && items.front().is_word(word);
  }
};

// The top-level forms of a text. Comments run from ';' to the end of the line. A text in quotes
// knows no escapes, since nothing that would need one may be in a profile; a regular expression is
// #"…", whose backslashes stay for whoever reads it.
[[nodiscard]] Result<std::vector<Form>> read_forms(std::string_view text);

}  // namespace loom::seatbelt::test
