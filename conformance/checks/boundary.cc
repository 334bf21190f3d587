#include <loom/codec.h>

#include "../scene.h"

namespace loom::conformance {
namespace {

struct Asked {
  std::string what;
  Verb verb;
  Bytes input;
};

// Sound questions and ones that must be refused, each as bytes for a verb.
std::vector<Asked> questions(const Scene& scene, Judgement& judgement) {
  std::vector<Asked> list = {{"pieces", Verb::kPieces, {}},
                             {"features", Verb::kFeatures, encode(scene.facts())}};
  for (const NamedPolicy& named : policies_for(scene.place(), kSeed, 4)) {
    auto request = scene.question(named.policy);
    if (!request) {
      judgement.breach("survey of \"" + named.name + "\": " + request.error().message);
      continue;
    }
    list.push_back({"survey of \"" + named.name + "\"", Verb::kSurvey,
                    encode(SurveyRequest{.policy = named.policy, .facts = scene.facts()})});
    list.push_back({"plan of \"" + named.name + "\"", Verb::kPlan, encode(*request)});
    list.push_back({"plan with an exec table of \"" + named.name + "\"", Verb::kPlan,
                    encode(with_exec_table(*request))});
    if (const auto plan = scene.backend().plan(*request)) {
      list.push_back({"audit of \"" + named.name + "\"", Verb::kAudit, encode(*plan)});
      list.push_back({"render of \"" + named.name + "\"", Verb::kRender, encode(*plan)});
    }
    request->command.argv.clear();
    list.push_back({"plan of no command", Verb::kPlan, encode(*request)});
  }
  list.push_back({"plan of nothing", Verb::kPlan, {}});
  return list;
}

void ask_all(const Subject& subject, Judgement& judgement,
             void (*judge)(const Asked&, const Answer&, Judgement&)) {
  const auto scene = Scene::open(subject, judgement);
  if (!scene) return;
  for (const Asked& asked : questions(*scene, judgement)) {
    judge(asked, scene->backend().call(asked.verb, asked.input), judgement);
  }
}

void judge_status(const Subject& subject, Judgement& judgement) {
  ask_all(subject, judgement, [](const Asked& asked, const Answer& answer, Judgement& out) {
    if (answer.status < 0 || answer.status > 5) {
      out.breach(asked.what + ": status " + std::to_string(answer.status) + " is none of 0 to 5");
    }
  });
}

void judge_error_text(const Subject& subject, Judgement& judgement) {
  ask_all(subject, judgement, [](const Asked& asked, const Answer& answer, Judgement& out) {
    if (answer.error_bytes > kMaxErrorBytes) {
      out.breach(asked.what + ": an error text of " + std::to_string(answer.error_bytes) +
                 " bytes, 4096 are the most");
    }
    if (answer.status != 0 && answer.error.empty()) {
      out.breach(asked.what + ": refused, and no reason given");
    }
  });
}

void judge_answer_size(const Subject& subject, Judgement& judgement) {
  ask_all(subject, judgement, [](const Asked& asked, const Answer& answer, Judgement& out) {
    if (answer.out_bytes > kMaxAnswerBytes) {
      out.breach(asked.what + ": an answer of " + std::to_string(answer.out_bytes) +
                 " bytes, 16 MiB are the most");
    }
  });
}

// Whatever is thrown ends this process, and the record's last step names the verb.
void judge_nothing_thrown(const Subject& subject, Judgement& judgement) {
  ask_all(subject, judgement, [](const Asked&, const Answer&, Judgement&) {});
}

}  // namespace

std::vector<Check> boundary_checks() {
  return {
      {"boundary.nothing-thrown",
       "Nothing a verb throws crosses the table, and no verb ends the process.",
       judge_nothing_thrown},
      {"boundary.status", "A verb's status is 0 or one of the five error codes.", judge_status},
      {"boundary.error-text", "A refusal has a reason, of 4 KiB at most.", judge_error_text},
      {"boundary.answer-ceiling", "An answer has 16 MiB at most.", judge_answer_size},
  };
}

}  // namespace loom::conformance
