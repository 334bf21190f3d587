#include <loom/utf8.h>

#include "../scene.h"

namespace loom::conformance {
namespace {

void judge_no_command(const Subject& subject, Judgement& judgement) {
  const auto scene = Scene::open(subject, judgement);
  if (!scene) return;
  auto request = scene->question(plain_policy(scene->place()));
  if (!request) return judgement.breach("survey: " + request.error().message);
  request->command.argv.clear();
  if (scene->backend().plan(*request)) judgement.breach("a command without a word is planned");
}

void judge_absent_mount(const Subject& subject, Judgement& judgement) {
  const auto scene = Scene::open(subject, judgement);
  if (!scene) return;
  Policy policy = plain_policy(scene->place());
  policy.mounts = {{.path = scene->place().path("mounted/none"), .required = true}};
  const auto request = scene->question(policy);
  if (!request) return judgement.breach("survey: " + request.error().message);
  for (const ImaginedMachine& machine : imagined_machines(*scene, judgement)) {
    PlanRequest imagined = *request;
    imagined.facts.launcher = machine.facts.launcher;
    imagined.facts.stage2 = machine.facts.stage2;
    imagined.facts.backend = machine.facts.backend;
    const auto plan = scene->backend().plan(imagined);
    if (plan) {
      judgement.breach("a required mount that is absent is planned, on " + machine.name);
    } else if (plan.error().message.find("mounted/none") == std::string::npos &&
               machine.name == "this machine") {
      judgement.breach("the refusal of an absent required mount does not name it: " +
                       plan.error().message);
    }
  }
}

// A control beside it: the same mount, there.
void judge_present_mount(const Subject& subject, Judgement& judgement) {
  const auto scene = Scene::open(subject, judgement);
  if (!scene) return;
  Policy policy = plain_policy(scene->place());
  const auto plain = scene->question(policy);
  if (!plain || !scene->backend().plan(*plain)) {
    return judgement.remark("not even a plain policy is planned here");
  }
  policy.mounts = {{.path = scene->place().path("mounted/ro"), .required = true}};
  const auto request = scene->question(policy);
  if (!request) return judgement.breach("survey: " + request.error().message);
  const auto plan = scene->backend().plan(*request);
  if (plan) return;
  if (plan.error().message.find("mount") == std::string::npos) {
    judgement.breach("a mount that is there is refused without being named: " +
                     plan.error().message);
  }
}

void judge_words(const Subject& subject, Judgement& judgement) {
  int refusals = 0;
  decide_all(subject, judgement, [&](const Decision& decision) {
    if (decision.plan) return;
    ++refusals;
    const Error& error = decision.plan.error();
    if (error.code == ErrorCode::kBackend || error.code == ErrorCode::kSystem) {
      judgement.breach(decision.name + ": refused with the code of a broken " +
                       (error.code == ErrorCode::kBackend ? "contract: " : "system call: ") +
                       error.message);
    }
    if (!is_utf8(error.message)) {
      judgement.breach(decision.name + ": the refusal is not UTF-8: " + escaped(error.message));
    }
    // A refusal names a thing: a path, a list, a layer. No thing fits into three words.
    if (error.message.size() < 8 || error.message.find(' ') == std::string::npos) {
      judgement.breach(decision.name + ": the refusal names nothing: \"" + error.message + "\"");
    }
  });
  judgement.remark(std::to_string(refusals) + " refusals read");
}

}  // namespace

std::vector<Check> refusal_checks() {
  return {
      {"refuse.no-command", "A command without a word is refused.", judge_no_command},
      {"refuse.absent-mount", "A required mount that is absent is refused by name, everywhere.",
       judge_absent_mount, 120},
      {"refuse.present-mount", "A required mount that is there is planned, or refused by name.",
       judge_present_mount},
      {"refuse.by-name",
       "A refusal says that the policy is denied, unsupported or invalid, and names the thing.",
       judge_words, 180},
  };
}

}  // namespace loom::conformance
