#include "app/prepare_run.h"

#include <loom/utf8.h>

#include <algorithm>
#include <utility>

#include "app/ceilings_in_reach.h"
#include "app/known_unmet.h"
#include "environment/build_environment.h"
#include "host/path_survey.h"

namespace loom::app {
namespace {

Result<void> check_directory(const std::string& cwd) {
  if (cwd.empty()) return {};
  const bool sound =
      cwd.front() == '/' && cwd.find('\0') == std::string::npos && cwd.size() <= kMaxDirectoryBytes;
  if (sound) return {};
  return fail(ErrorCode::kInvalidRequest,
              "cwd \"" + escaped(cwd, 256) + "\" is not an absolute path of at most 4095 bytes");
}

// Those of the candidates that are directories and do not lead into `excluded`, whichever way
// either is spelled: a program must not be found where the command can put one.
std::vector<AbsolutePath> usable_directories(const std::vector<AbsolutePath>& candidates,
                                             const std::vector<AbsolutePath>& excluded) {
  std::vector<AbsolutePath> real_excluded;
  for (const AbsolutePath& region : excluded) {
    real_excluded.push_back(host::survey_path(region).real);
  }
  std::vector<AbsolutePath> usable;
  for (const AbsolutePath& candidate : candidates) {
    const PathFact fact = host::survey_path(candidate);
    const bool writable =
        std::any_of(real_excluded.begin(), real_excluded.end(),
                    [&](const AbsolutePath& region) { return fact.real.is_within(region); });
    if (fact.kind == PathKind::kDirectory && !writable) usable.push_back(candidate);
  }
  return usable;
}

Command make_command(const Session& session, RunRequest& request, const Survey& survey) {
  const auto wanted = request.environment.find("PATH");
  const std::string requested = wanted == request.environment.end() ? "" : wanted->second;
  std::vector<AbsolutePath> directories = usable_directories(
      path_candidates(requested, session.options().search_path, survey.search_excluded),
      survey.search_excluded);
  return {.argv = std::move(request.argv),
          .environment = build_environment({.requested = std::move(request.environment),
                                            .allow = request.policy.env_allow,
                                            .path_directories = std::move(directories),
                                            .scratch_dir = survey.scratch_dir}),
          .cwd = request.cwd};
}

}  // namespace

Result<PreparedRun> prepare_run(Session& session, RunRequest request) {
  LOOM_TRY_VOID(check_directory(request.cwd));
  LOOM_TRY_VOID(session.finish_probing());
  JailBackend& backend = session.backend();
  if (session.facts().ceilings.available) {
    LOOM_TRY_VOID(refuse_ceilings_in_reach(request.policy));
  }

  LOOM_TRY(const Survey* const survey, session.survey(request.policy));
  HostFacts facts = session.facts();
  facts.paths.reserve(survey->paths.size());
  host::PathSurveyor surveyor;
  for (const SurveyPath& wanted : survey->paths) {
    facts.paths.push_back(surveyor.look(wanted.path));
  }

  PreparedRun run;
  run.id = request.id;
  run.command = make_command(session, request, *survey);
  run.policy = std::move(request.policy);
  LOOM_TRY(run.plan, backend.plan({.policy = run.policy,
                                   .command = run.command,
                                   .demand = session.options().demand,
                                   .keep_capabilities = session.options().keep_capabilities,
                                   .facts = std::move(facts),
                                   .nonce = session.next_nonce()}));
  LOOM_TRY(run.launch, backend.render(run.plan));
  if (session.options().demand != Demand::kBestEffort) {
    LOOM_TRY_VOID(audit_run(session, run));
    LOOM_TRY_VOID(refuse_known_unmet(session, run));
  }
  return run;
}

Result<void> audit_run(Session& session, PreparedRun& run) {
  if (run.audited) return {};
  LOOM_TRY(run.audit, session.backend().audit(run.plan));
  run.audited = true;
  return {};
}

}  // namespace loom::app
