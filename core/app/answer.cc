#include "app/answer.h"

#include <loom/utf8.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "guard/admission.h"
#include "guard/denial_of.h"
#include "law/judge.h"
#include "report/denial_value.h"

namespace loom::app {
namespace {

using Json = nlohmann::ordered_json;

law::Operation operation_of(QuestionKind kind) {
  switch (kind) {
    case QuestionKind::kRead:
      return law::Operation::kRead;
    case QuestionKind::kList:
      return law::Operation::kList;
    case QuestionKind::kWrite:
      return law::Operation::kWrite;
    case QuestionKind::kCreate:
      return law::Operation::kCreate;
    case QuestionKind::kRemove:
      return law::Operation::kRemove;
    case QuestionKind::kRename:
      return law::Operation::kRenameFrom;
    case QuestionKind::kExecute:
      return law::Operation::kExecute;
  }
  return law::Operation::kRead;
}

std::string in_quotes(std::string_view text) { return '"' + escaped(text) + '"'; }

// "read "/w/l", really "/o/f""
std::string asked_words(const Answer& answer) {
  const Question& question = answer.question;
  std::string text(question_kind_name(question.kind));
  text += ' ' + in_quotes(question.path);
  if (answer.real && *answer.real != question.path) text += ", really " + in_quotes(*answer.real);
  if (question.kind == QuestionKind::kRename) text += " to " + in_quotes(question.to);
  return text;
}

// "exec.allow[2] "/usr/bin""
std::string rule_words(const DenialRule& rule) {
  const bool numbered = rule.list.starts_with("exec.") || rule.kind == "mount" ||
                        rule.list.ends_with("_roots") || rule.list == "protected";
  if (rule.kind == "any") return "the default of the exec table";
  return (numbered ? rule.list + '[' + std::to_string(rule.index) + ']' : "every jail's own") +
         ' ' + in_quotes(rule.written);
}

// The allowance of the exec table that holds the file; nothing where the policy does not speak of
// programs.
std::optional<DenialRule> allowance_of(const law::Table& table, const AbsolutePath& file) {
  if (file.is_root() || !table.is_restrictive()) return std::nullopt;
  const law::Verdict verdict = law::judge(table, law::Subject::file(file));
  if (!verdict.admitted() || !verdict.rule) return std::nullopt;
  return guard::exec_allowance(*verdict.rule);
}

Json mount_value(const std::optional<MountOperation>& mount) {
  if (!mount) return {};
  Json json;
  json["class"] = mount_class_name(mount->mount_class);
  json["region"] = json_path(mount->region.str());
  json["written"] = json_path(mount->written.str());
  return json;
}

}  // namespace

Answerer::Answerer(const guard::Guard& guard, std::string directory)
    : guard_(&guard), directory_(std::move(directory)), replay_(guard.view()) {
  if (directory_.empty()) directory_ = "/";
}

Answer Answerer::answer(const Question& question) {
  Answer answer{.question = question};
  switch (question.kind) {
    case QuestionKind::kRead:
    case QuestionKind::kList:
    case QuestionKind::kWrite:
    case QuestionKind::kCreate:
    case QuestionKind::kRemove:
      judge(answer);
      break;
    case QuestionKind::kRename:
      judge_rename(answer);
      break;
    case QuestionKind::kExecute:
      admit(answer);
      break;
  }
  return answer;
}

// Joined as text: the walk goes through whatever is in front of a "..".
std::string Answerer::absolute(const std::string& path) const {
  return path.empty() || path.front() == '/' ? path : directory_ + "/" + path;
}

void Answerer::judge(Answer& answer) const {
  const Question& question = answer.question;
  auto landing = guard_->judge(operation_of(question.kind), absolute(question.path));
  if (landing) {
    answer.real = landing->real().str();
  } else {
    answer.denial = std::move(landing).error();
  }
  explain(answer, std::nullopt);
}

void Answerer::judge_rename(Answer& answer) const {
  const Question& question = answer.question;
  auto landings = guard_->judge_rename(absolute(question.path), absolute(question.to));
  if (landings) {
    answer.real = landings->first.real().str();
  } else {
    answer.denial = std::move(landings).error();
  }
  explain(answer, std::nullopt);
}

void Answerer::admit(Answer& answer) {
  auto judged = guard::judge_program(*guard_, answer.question.path, directory_, linkers_);
  std::optional<DenialRule> allowance;
  if (judged) {
    answer.real = judged->real.str();
    answer.notes = std::move(judged->notes);
    allowance = allowance_of(guard_->snapshot().exec(), judged->real);
  } else {
    answer.denial = std::move(judged).error();
  }
  explain(answer, std::move(allowance));
}

// Somebody who wrote an allowance for just this will look for it.
void Answerer::note_dropped(Answer& answer) const {
  if (!answer.denial || answer.denial->reason != "not_allowed" || !answer.denial->real) return;
  const auto real = AbsolutePath::parse(*answer.denial->real);
  if (!real || real->is_root()) return;
  const guard::Snapshot& snapshot = guard_->snapshot();
  const std::string* remark = snapshot.why_dropped(law::Subject::file(*real));
  if (remark == nullptr) remark = snapshot.why_dropped(law::Subject::inside(*real));
  if (remark != nullptr) answer.notes.push_back(*remark + ", and allows nothing");
}

// `allowance`: of the exec table, where that was asked.
void Answerer::explain(Answer& answer, std::optional<DenialRule> allowance) const {
  if (answer.denial) answer.real = answer.denial->real;
  if (answer.real) {
    const MountOperation* const mount = replay_.effective(*answer.real);
    if (mount != nullptr) answer.mount = *mount;
  }
  if (answer.denial) {
    answer.rule = answer.denial->rule;
    answer.text = Utf8::sanitise(answer.denial->text).str();
    note_dropped(answer);
    return;
  }
  std::string by;
  if (answer.mount) {
    answer.rule = guard::region_rule(guard_->snapshot(), *answer.mount);
    by = " by " + rule_words(*answer.rule);
  }
  if (allowance) {
    by = " by " + rule_words(*allowance) + (answer.mount ? ", shown" + by : "");
    answer.rule = std::move(allowance);
  }
  answer.text = asked_words(answer) + " is admitted" + by;
}

std::string human_answer(const Answer& answer) {
  std::string text = answer.denial ? "refused: " : "";
  text += printable(answer.text, kMaxDenialText) + "\n";
  if (answer.denial && answer.denial->hint)
    text += "hint: " + printable(*answer.denial->hint) + "\n";
  for (const std::string& note : answer.notes) text += "note: " + printable(note) + "\n";
  return text;
}

std::string json_answer(const Answer& answer) {
  const Question& question = answer.question;
  Json json;
  json["op"] = question_kind_name(question.kind);
  json["asked"] = json_path(question.path);
  if (question.kind == QuestionKind::kRename) json["to"] = json_path(question.to);
  json["real"] = answer.real ? Json(json_path(*answer.real)) : Json();
  json["admitted"] = answer.admitted();
  json["rule"] = rule_value(answer.rule);
  json["mount"] = mount_value(answer.mount);
  json["text"] = answer.text;
  json["denial"] = answer.denial ? denial_value(*answer.denial) : Json();
  return json.dump() + "\n";
}

}  // namespace loom::app
