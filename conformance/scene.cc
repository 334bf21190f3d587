#include "scene.h"

#include <spdlog/sinks/null_sink.h>

#include <cstdlib>
#include <utility>

#include "app/gather_facts.h"

namespace loom::conformance {
namespace {

std::string own_search_path() {
  const char* path = std::getenv("PATH");
  return path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
}

}  // namespace

std::unique_ptr<Scene> Scene::open(const Subject& subject, Judgement& judgement) {
  std::unique_ptr<Scene> scene(new Scene(judgement));
  scene->table_ = load(subject, judgement);
  if (scene->table_ == nullptr) return nullptr;
  const auto set_up = scene->set_up(subject);
  if (set_up) return scene;
  const bool broken = set_up.error().code == ErrorCode::kBackend;
  const std::string why = "no session with this backend: " + set_up.error().message;
  broken ? judgement.breach(why) : judgement.unjudged(why);
  return nullptr;
}

Result<void> Scene::set_up(const Subject& subject) {
  LOOM_TRY(place_, Place::make());
  log_ = std::make_unique<spdlog::logger>("conformance",
                                          std::make_shared<spdlog::sinks::null_sink_st>());
  judgement_.step("probe before the hello, features", true);
  app::SessionOptions options;
  options.backend = subject.backend;
  options.search_path = own_search_path();
  options.runs_once = true;
  LOOM_TRY(session_, app::Session::open(subject.installation, std::move(options), *log_));
  judgement_.step("probe before the first plan", true);
  LOOM_TRY_VOID(session_->finish_probing());
  LOOM_TRY(backend_, Instance::make(*table_, host_, judgement_));
  return {};
}

Result<Survey> Scene::survey(const Policy& policy) const {
  return backend_->survey({.policy = policy, .facts = session_->facts()});
}

Result<PlanRequest> Scene::question(const Policy& policy) const {
  LOOM_TRY(Survey wanted, survey(policy));
  PlanRequest request;
  request.policy = policy;
  request.command = {.argv = {"true"},
                     .environment = {"CONFORMANCE_A=one", "PATH=/usr/bin:/bin"},
                     .cwd = place_->at("work"),
                     .program = std::nullopt};
  if (wanted.private_scratch) request.private_scratch = place_->path("private-scratch");
  LOOM_TRY(const auto facts, app::gather_facts(*session_, wanted));
  request.facts = *facts;
  request.nonce = "conformance";
  return request;
}

Policy masked_policy(const Scene& scene) {
  Policy policy = plain_policy(scene.place());
  policy.protected_paths = {scene.place().path("work/.env")};
  const auto request = scene.question(policy);
  if (request && !scene.backend().plan(*request)) {
    policy.protected_paths = {scene.place().path("elsewhere/hidden")};
  }
  return policy;
}

PlanRequest with_exec_table(PlanRequest request) {
  request.policy.version = 3;
  request.policy.exec = ExecPolicy{};
  request.policy.exec->allow = {{.kind = ExecEntryKind::kDirectory, .value = "/usr"}};
  request.exec = ExecRules{};
  request.exec->restrictive = true;
  const auto usr = AbsolutePath::parse("/usr");
  request.exec->allow = {{.scope = ExecScope::kDirectory,
                          .real = *usr,
                          .name = {},
                          .written = "/usr",
                          .identity = {.device = 1, .inode = 2},
                          .parent_identity = {.device = 1, .inode = 1}}};
  return request;
}

PlanRequest question_on(const ImaginedMachine& machine, const PlanRequest& here) {
  PlanRequest request = here;
  request.facts = machine.facts;
  request.facts.paths = here.facts.paths;
  request.facts.directories = here.facts.directories;
  request.facts.mounts = here.facts.mounts;
  return request;
}

void decide_all(const Subject& subject, Judgement& judgement,
                const std::function<void(const Decision&)>& judge) {
  const auto scene = Scene::open(subject, judgement);
  if (!scene) return;
  const auto machines = imagined_machines(*scene, judgement);
  for (const NamedPolicy& named : policies_for(scene->place(), kSeed, 12)) {
    const auto survey = scene->survey(named.policy);
    const auto here = scene->question(named.policy);
    if (!survey || !here) {
      judgement.breach("survey of \"" + named.name +
                       "\": " + (survey ? here.error() : survey.error()).message);
      continue;
    }
    for (const ImaginedMachine& machine : machines) {
      const PlanRequest request = question_on(machine, *here);
      Decision decision{.name = "\"" + named.name + "\" on " + machine.name,
                        .request = request,
                        .survey = *survey,
                        .plan = scene->backend().plan(request)};
      if (decision.plan) {
        const auto audit = scene->backend().audit(*decision.plan);
        if (!audit) {
          judgement.breach("audit of its own plan for " + decision.name + ": " +
                           audit.error().message);
          continue;
        }
        decision.audit = *audit;
        if (decision.plan->to_make.empty()) {
          const auto launch = scene->backend().render(*decision.plan);
          if (!launch) {
            judgement.breach("render of its own plan for " + decision.name + ": " +
                             launch.error().message);
            continue;
          }
          decision.launch = *launch;
        }
      }
      judge(decision);
    }
  }
}

}  // namespace loom::conformance
