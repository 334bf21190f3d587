#include "app/git_identity_grounds.h"

#include <loom/backend.h>
#include <loom/table_backend.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/installation.h"
#include "host/load_backend.h"
#include "host/path_survey.h"

namespace loom::app {
namespace {

// A host from which nothing can be started, and which prints nothing: a refusal is one line.
class IdleHost final : public HostServices {
 public:
  void log(LogLevel /*level*/, std::string_view /*utf8*/) override {}
  Result<TrialResult> try_launch(const LaunchSpec& /*launch*/,
                                 std::uint32_t /*deadline_ms*/) override {
    return nothing_runs();
  }
  Result<std::int32_t> spawn(const LaunchSpec& /*launch*/) override { return nothing_runs(); }
  Result<ExecObject> next_exec_object() override { return nothing_runs(); }
  Result<std::vector<std::int32_t>> children(std::int32_t /*pid*/) override {
    return nothing_runs();
  }

 private:
  static tl::unexpected<Error> nothing_runs() {
    return fail(ErrorCode::kBackend, "a git identity is published without running anything");
  }
};

// Every path is looked at once, so that whoever asks about it gets the same answer.
class Looker {
 public:
  const PathFact& look(const AbsolutePath& path) {
    const auto known = facts_.find(path);
    if (known != facts_.end()) return known->second;
    return facts_.emplace(path, surveyor_.look(path)).first->second;
  }
  [[nodiscard]] std::vector<DirectoryFact> directories() { return surveyor_.directories(); }

 private:
  host::PathSurveyor surveyor_;
  std::map<AbsolutePath, PathFact> facts_;
};

Result<std::unique_ptr<JailBackend>> open_backend(const host::Installation& installation,
                                                  HostServices& host) {
  LOOM_TRY(const std::string file, host::backend_file(installation, ""));
  LOOM_TRY(const loom_backend_v1* table, host::load_backend(file));
  return make_table_backend(*table, host);
}

Policy without_absent_protected(const Policy& policy, Looker& looker) {
  Policy present = policy;
  std::erase_if(present.protected_paths, [&looker](const AbsolutePath& path) {
    return looker.look(path).kind == PathKind::kMissing;
  });
  return present;
}

// Where a run's own scratch would be. It is not made: nothing is run, and the plan only has to know
// that it is no place of the workspace's.
std::optional<AbsolutePath> place_of_scratch(const Survey& survey) {
  if (!survey.private_scratch) return std::nullopt;
  const auto& [parent, prefix] = *survey.private_scratch;
  auto place = AbsolutePath::parse(parent.str() + '/' + prefix + "none");
  return place ? std::optional(*std::move(place)) : std::nullopt;
}

Result<JailPlan> plan_for(JailBackend& backend, Policy policy, HostFacts facts, Looker& looker) {
  LOOM_TRY(facts.backend, backend.probe({.phase = ProbePhase::kBeforeHello, .facts = facts}));
  LOOM_TRY(const Survey survey, backend.survey({.policy = policy, .facts = facts}));
  for (const SurveyPath& wanted : survey.paths) facts.paths.push_back(looker.look(wanted.path));
  facts.directories = looker.directories();
  // What may be executed is nothing to a file that the helper writes.
  const bool has_table = policy.version > 2;
  PlanRequest request{.policy = std::move(policy),
                      .command = {},
                      .exec = has_table ? std::optional(ExecRules{}) : std::nullopt,
                      .demand = Demand::kBestEffort,
                      .keep_capabilities = {},
                      .private_scratch = place_of_scratch(survey),
                      .facts = std::move(facts),
                      .nonce = "1"};
  request.command.argv = {"git-identity"};  // a plan is for a command; this one is never run
  return backend.plan(request);
}

}  // namespace

Result<HostFacts> publication_facts(const JailBackend& backend,
                                    const host::Installation& installation) {
  LOOM_TRY(const Pieces pieces, backend.pieces());
  HostFacts facts = host::machine_facts();
  facts.launcher.present = true;
  facts.stage2.present = true;
  if (!pieces.stage2.empty()) {
    facts.stage2.path = installation.libexec_directory + "/" + pieces.stage2;
  }
  return facts;
}

IdentityResult<PublicationGrounds> grounds_by(JailBackend& backend, const HostFacts& facts,
                                              const Policy& policy) {
  Looker looker;
  auto plan = plan_for(backend, without_absent_protected(policy, looker), facts, looker);
  if (!plan) {
    const bool broken = plan.error().code == ErrorCode::kBackend;
    return tl::unexpected(broken ? IdentityRefusal::kBackend : IdentityRefusal::kNoPlan);
  }
  PublicationGrounds grounds;
  for (const AbsolutePath& path : policy.protected_paths) {
    grounds.protected_paths.push_back(looker.look(path));
  }
  for (const ExplicitMount& mount : policy.mounts)
    grounds.mounts.push_back(looker.look(mount.path));
  grounds.view = std::move(plan->view);
  grounds.scratch_is_tmpfs = policy.scratch.is_tmpfs();
  return grounds;
}

IdentityResult<PublicationGrounds> gather_grounds(const Policy& policy) {
  IdleHost host;
  const auto installation = host::find_installation();
  if (!installation) return tl::unexpected(IdentityRefusal::kBackend);
  auto backend = open_backend(*installation, host);
  if (!backend) return tl::unexpected(IdentityRefusal::kBackend);
  const auto facts = publication_facts(**backend, *installation);
  if (!facts) return tl::unexpected(IdentityRefusal::kBackend);
  return grounds_by(**backend, *facts, policy);
}

}  // namespace loom::app
