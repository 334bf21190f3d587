#include "app/question.h"

#include <loom/utf8.h>

#include <algorithm>
#include <array>
#include <utility>

namespace loom::app {
namespace {

constexpr std::array<QuestionKind, 7> kKinds = {
    QuestionKind::kRead,   QuestionKind::kList,   QuestionKind::kWrite,  QuestionKind::kCreate,
    QuestionKind::kRemove, QuestionKind::kRename, QuestionKind::kExecute};

Result<QuestionKind> kind_of(std::string_view name) {
  for (const QuestionKind kind : kKinds) {
    if (question_kind_name(kind) == name) return kind;
  }
  return fail(ErrorCode::kInvalidRequest,
              "\"" + escaped(name, 64) +
                  "\" is no operation: read, list, write, create, remove, rename or execute");
}

std::size_t words_of(QuestionKind kind) { return kind == QuestionKind::kRename ? 3 : 2; }

}  // namespace

std::string_view question_kind_name(QuestionKind kind) noexcept {
  switch (kind) {
    case QuestionKind::kRead:
      return "read";
    case QuestionKind::kList:
      return "list";
    case QuestionKind::kWrite:
      return "write";
    case QuestionKind::kCreate:
      return "create";
    case QuestionKind::kRemove:
      return "remove";
    case QuestionKind::kRename:
      return "rename";
    case QuestionKind::kExecute:
      return "execute";
  }
  return "operation";
}

Result<Question> parse_question(const std::vector<std::string>& words) {
  if (words.empty()) return fail(ErrorCode::kInvalidRequest, "no operation and no path");
  LOOM_TRY(const QuestionKind kind, kind_of(words.front()));
  if (words.size() != words_of(kind)) {
    return fail(ErrorCode::kInvalidRequest,
                std::string(question_kind_name(kind)) +
                    (words_of(kind) == 2 ? " takes one path" : " takes two paths"));
  }
  return Question{.kind = kind, .path = words[1], .to = words.size() > 2 ? words[2] : ""};
}

Result<void> QuestionReader::feed(std::string_view bytes,
                                  const std::function<void(const Question&)>& ask) {
  while (!bytes.empty()) {
    const std::size_t end = std::min(bytes.find('\0'), bytes.size());
    if (field_.size() + end > kMaxQuestionBytes) {
      return fail(ErrorCode::kInvalidRequest, number() + ": a field is longer than " +
                                                  std::to_string(kMaxQuestionBytes) + " bytes");
    }
    field_ += bytes.substr(0, end);
    if (end == bytes.size()) return {};
    bytes.remove_prefix(end + 1);
    LOOM_TRY_VOID(take_field(ask));
  }
  return {};
}

Result<void> QuestionReader::finish() const {
  if (field_.empty() && fields_.empty()) return {};
  return fail(ErrorCode::kInvalidRequest, number() + " has no end");
}

Result<void> QuestionReader::take_field(const std::function<void(const Question&)>& ask) {
  fields_.push_back(std::exchange(field_, {}));
  if (asked_ == kMaxQuestions) {
    return fail(ErrorCode::kInvalidRequest,
                "more than " + std::to_string(kMaxQuestions) + " requests");
  }
  const auto kind = kind_of(fields_.front());
  if (!kind) return fail(ErrorCode::kInvalidRequest, number() + ": " + kind.error().message);
  if (fields_.size() < words_of(*kind)) return {};
  LOOM_TRY(const Question question, parse_question(fields_));
  fields_.clear();
  ++asked_;
  ask(question);
  return {};
}

std::string QuestionReader::number() const { return "request " + std::to_string(asked_ + 1); }

}  // namespace loom::app
