#pragma once

#include <loom/result.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace loom::app {

enum class QuestionKind : std::uint8_t {
  kRead,
  kList,
  kWrite,
  kCreate,
  kRemove,
  kRename,
  kExecute
};

// "read", …
[[nodiscard]] std::string_view question_kind_name(QuestionKind kind) noexcept;

// May the command do this? Paths as somebody wrote them: any bytes.
struct Question {
  QuestionKind kind = QuestionKind::kRead;
  std::string path{};
  std::string to{};  // kRename only
  friend bool operator==(const Question&, const Question&) = default;
};

// The words of a command line: an operation and one path, or two for a rename.
[[nodiscard]] Result<Question> parse_question(const std::vector<std::string>& words);

inline constexpr std::size_t kMaxQuestions = 1'000'000;
inline constexpr std::size_t kMaxQuestionBytes = 4'096;  // of one path

// Takes questions out of a stream of fields that each end in a NUL: operation, path, and for a
// rename the new path.
class QuestionReader {
 public:
  // Calls `ask` for each question that `bytes` completes. Refuses a field that is no operation, a
  // path that is too long, and more than kMaxQuestions, naming the question's number; what came
  // before was asked.
  [[nodiscard]] Result<void> feed(std::string_view bytes,
                                  const std::function<void(const Question&)>& ask);
  // After the last byte: refuses a question that has only begun.
  [[nodiscard]] Result<void> finish() const;

 private:
  [[nodiscard]] Result<void> take_field(const std::function<void(const Question&)>& ask);
  [[nodiscard]] std::string number() const;

  std::string field_;                // begun
  std::vector<std::string> fields_;  // of the question in work
  std::size_t asked_ = 0;
};

}  // namespace loom::app
