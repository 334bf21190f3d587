#include "app/windows/prepare_run.h"

#include <loom/utf8.h>

#include <algorithm>
#include <utility>

#include "environment/build_environment.h"
#include "host/windows/native_path.h"
#include "report/conclude.h"

namespace loom::windows {
namespace {

constexpr std::size_t kMaxDirectoryBytes = 4'095;  // D19
constexpr std::uint32_t kExecVersion = 3;          // of policies: the first with an exec table

Result<void> check_directory(const std::string& cwd) {
  if (cwd.empty()) return {};
  if (is_full_path(cwd) && cwd.size() <= kMaxDirectoryBytes) return {};
  return fail(ErrorCode::kInvalidRequest,
              "cwd \"" + escaped(cwd, 256) + "\" is not an absolute path of at most 4095 bytes");
}

std::string requested(const app::RunRequest& request, const char* name) {
  const auto found = request.environment.find(name);
  return found == request.environment.end() ? "" : found->second;
}

// The requested list, then the helper's own, then the system's directories; those that are there.
std::vector<std::string> search_list(const Session& session, const std::string& wanted,
                                     const Survey& survey) {
  std::string list = wanted + ";" + variable(L"PATH");
  std::vector<std::string> found =
      search_directories(list, survey.search_excluded, session.places().drive);
  found.erase(std::remove_if(found.begin(), found.end(),
                             [](const std::string& each) { return !is_directory(each); }),
              found.end());
  for (const std::string& floor : session.places().directories) {
    const bool known = std::any_of(found.begin(), found.end(), [&](const std::string& each) {
      return folded(each) == folded(floor);
    });
    if (!known) found.push_back(floor);
  }
  return found;
}

std::string joined(const std::vector<std::string>& items, const char* between) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : between) + item;
  return text;
}

// What no report here can show is refused before anything is started (D21).
Result<void> check_demand(const Session& session, const PreparedRun& run, bool exec_rules) {
  const std::vector<std::string> missing = unmet_layers(
      {.demand = session.options().demand, .policy = &run.policy, .exec_rules = exec_rules},
      session.facts().os, session.features().degraded, conclude(run.audit, {}));
  if (missing.empty()) return {};
  return fail(ErrorCode::kUnsupported,
              "the demand cannot be met here, not held: " + joined(missing, ", "));
}

}  // namespace

Result<PreparedRun> prepare_run(Session& session, app::RunRequest request) {
  LOOM_TRY_VOID(check_directory(request.cwd));
  JailBackend& backend = session.backend();
  LOOM_TRY(const Survey survey,
           backend.survey({.policy = request.policy, .facts = session.facts()}));
  PreparedRun run;
  run.search = search_list(session, requested(request, "PATH"), survey);
  PlanRequest question{.policy = request.policy,
                       .demand = session.options().demand,
                       .deny_unix_sockets = session.options().deny_unix_sockets,
                       .keep_capabilities = session.options().keep_capabilities,
                       .facts = session.facts(),
                       .nonce = session.next_nonce()};
  question.command = {.argv = std::move(request.argv),
                      .environment = build_environment({.requested = std::move(request.environment),
                                                        .allow = request.policy.env_allow,
                                                        .path_directories = {},
                                                        .scratch_dir = survey.scratch_dir,
                                                        .path = joined(run.search, ";")}),
                      .cwd = std::move(request.cwd)};
  const bool has_exec_table = request.exec.version >= kExecVersion;
  if (has_exec_table) {
    question.exec = ExecRules{.restrictive = true, .required = request.exec.required};
  }
  for (const SurveyPath& wanted : survey.paths) {
    question.facts.paths.push_back(look_at(wanted.path, session.places()));
  }
  LOOM_TRY(const JailPlan plan, backend.plan(question));
  LOOM_TRY(run.launch, backend.render(plan));
  LOOM_TRY(run.audit, backend.audit(plan));
  run.policy = std::move(request.policy);
  LOOM_TRY_VOID(check_demand(session, run, has_exec_table && request.exec.required));
  return run;
}

}  // namespace loom::windows
