#include "profile_forms.h"

#include <algorithm>
#include <utility>

namespace loom::seatbelt::test {
namespace {

constexpr std::string_view kBlanks = " \t\n";

class FormReader {
 public:
  explicit FormReader(std::string_view text) : text_(text) {}

  Result<std::vector<Form>> all() {
    std::vector<Form> forms;
    for (skip(); !rest().empty(); skip()) {
      LOOM_TRY(Form form, one());
      forms.push_back(std::move(form));
    }
    return forms;
  }

 private:
  [[nodiscard]] std::string_view rest() const { return text_.substr(at_); }

  // Where it is now. Counts on from where it was asked last: profiles are long.
  [[nodiscard]] int line() {
    for (; counted_ < at_; ++counted_) line_ += text_[counted_] == '\n' ? 1 : 0;
    return line_;
  }

  Result<Form> broken(const std::string& what) {
    return fail(ErrorCode::kInvalidRequest, "line " + std::to_string(line()) + ": " + what);
  }

  // Blanks and comments.
  void skip() {
    while (true) {
      at_ = std::min(text_.find_first_not_of(kBlanks, at_), text_.size());
      if (rest().empty() || rest().front() != ';') return;
      at_ = std::min(text_.find('\n', at_), text_.size());
    }
  }

  Result<Form> one() {
    if (rest().front() == '(') return list();
    if (rest().front() == '"') return quoted(Form::Kind::kText, 1);
    if (rest().substr(0, 2) == "#\"") return quoted(Form::Kind::kRegex, 2);
    return word();
  }

  Result<Form> list() {
    Form form{.kind = Form::Kind::kList, .line = line()};
    ++at_;
    for (skip(); !rest().empty() && rest().front() != ')'; skip()) {
      LOOM_TRY(Form item, one());
      form.items.push_back(std::move(item));
    }
    if (rest().empty()) return broken("a list does not end");
    ++at_;
    return form;
  }

  Result<Form> quoted(Form::Kind kind, std::size_t opening) {
    Form form{.kind = kind, .line = line()};
    const std::size_t end = text_.find('"', at_ + opening);
    if (end == std::string_view::npos) return broken("a text does not end");
    form.text = text_.substr(at_ + opening, end - at_ - opening);
    if (kind == Form::Kind::kText && form.text.find('\\') != std::string::npos) {
      return broken("an escape in a text");
    }
    at_ = end + 1;
    return form;
  }

  Result<Form> word() {
    constexpr std::string_view kWordCharacters =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_*";
    const std::size_t end = std::min(text_.find_first_not_of(kWordCharacters, at_), text_.size());
    if (end == at_) return broken("unexpected '" + std::string(1, rest().front()) + "'");
    Form form{.kind = Form::Kind::kWord, .text = std::string(text_.substr(at_, end - at_))};
    form.line = line();
    at_ = end;
    return form;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t counted_ = 0;
  int line_ = 1;
};

}  // namespace

Result<std::vector<Form>> read_forms(std::string_view text) { return FormReader(text).all(); }

}  // namespace loom::seatbelt::test
