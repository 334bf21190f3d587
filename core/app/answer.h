#pragma once

#include <loom/plan.h>
#include <loom/view_replay.h>

#include <optional>
#include <string>
#include <vector>

#include "app/question.h"
#include "guard/guard.h"
#include "guard/linker_names.h"
#include "report/denial.h"

namespace loom::app {

// What the policy says to one question, and why.
struct Answer {
  Question question{};
  std::optional<std::string> real{};      // where the path leads; none: no walk landed
  std::optional<DenialRule> rule{};       // what decided
  std::optional<MountOperation> mount{};  // what the jail has there
  std::optional<Denial> denial{};         // none: admitted
  std::vector<std::string> notes{};       // what a person should know besides, one sentence each
  std::string text{};                     // one sentence

  [[nodiscard]] bool admitted() const noexcept { return !denial; }
};

// Answers questions about what a command may do. Borrows the guard.
class Answerer {
 public:
  // `directory`: where the command starts; what a path without a leading "/" is relative to.
  Answerer(const guard::Guard& guard, std::string directory);

  // Looks at the file system and changes nothing there.
  [[nodiscard]] Answer answer(const Question& question);

 private:
  [[nodiscard]] std::string absolute(const std::string& path) const;
  void judge(Answer& answer) const;
  void judge_rename(Answer& answer) const;
  void admit(Answer& answer);
  void note_dropped(Answer& answer) const;
  void explain(Answer& answer, std::optional<DenialRule> allowance) const;

  const guard::Guard* guard_;
  std::string directory_;
  ViewReplay replay_;
  guard::LinkerNames linkers_;
};

// A few lines for a person; the first one is the sentence.
[[nodiscard]] std::string human_answer(const Answer& answer);
// One line of JSON (docs/run.md, "why"), newline at the end.
[[nodiscard]] std::string json_answer(const Answer& answer);

}  // namespace loom::app
