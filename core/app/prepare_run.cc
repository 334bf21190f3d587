#include "app/prepare_run.h"

#include <loom/utf8.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "app/ceilings_in_reach.h"
#include "app/exec_grounds.h"
#include "app/gather_facts.h"
#include "app/known_unmet.h"
#include "app/make_names.h"
#include "environment/build_environment.h"
#include "host/path_survey.h"
#include "report/entry_text.h"

namespace loom::app {
namespace {

constexpr int kMaxPlanTries = 10;
constexpr std::uint32_t kExecVersion = 3;  // of policies: the first with an exec table

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
                                             const std::vector<AbsolutePath>& excluded,
                                             host::PathSurveyor& surveyor) {
  std::vector<AbsolutePath> real_excluded;
  for (const AbsolutePath& region : excluded) real_excluded.push_back(surveyor.look(region).real);
  std::vector<AbsolutePath> usable;
  for (const AbsolutePath& candidate : candidates) {
    const PathFact fact = surveyor.look(candidate);
    const bool writable =
        std::any_of(real_excluded.begin(), real_excluded.end(),
                    [&](const AbsolutePath& region) { return fact.real.is_within(region); });
    if (fact.kind == PathKind::kDirectory && !writable) usable.push_back(candidate);
  }
  return usable;
}

std::vector<AbsolutePath> search_directories(Session& session, const std::string& requested_path,
                                             const Survey& survey) {
  std::optional<SearchLook>& last = session.last_look().search;
  if (last && last->requested == requested_path && last->excluded == survey.search_excluded &&
      last->tape.still_holds()) {
    return last->usable;
  }
  host::PathSurveyor surveyor;
  std::vector<AbsolutePath> usable = usable_directories(
      path_candidates(requested_path, session.options().search_path, survey.search_excluded),
      survey.search_excluded, surveyor);
  host::WalkTape tape = surveyor.take_tape();
  last.reset();
  if (tape.may_hold()) {
    last = SearchLook{.requested = requested_path,
                      .excluded = survey.search_excluded,
                      .tape = std::move(tape),
                      .usable = usable};
  }
  return usable;
}

// Who makes a jail ahead has no command to look for.
Command make_command(Session& session, RunRequest& request, const std::string& requested_path,
                     const Survey& survey) {
  std::vector<AbsolutePath> directories;
  if (!request.ahead) directories = search_directories(session, requested_path, survey);
  return {.argv = std::move(request.argv),
          .environment = build_environment({.requested = std::move(request.environment),
                                            .allow = request.policy.env_allow,
                                            .path_directories = std::move(directories),
                                            .scratch_dir = survey.scratch_dir}),
          .cwd = request.cwd,
          .program = std::nullopt};
}

void scrub(PreparedRun& run) {
  for (const std::string& name : scrub_loader_variables(run.command.environment)) {
    run.extras.push_back("scrubbed:env=" + name);
  }
}

// Of the last launch that was planned only the commit is another one now.
void recall(const Command& command, PreparedRun& run) {
  run.plan = {};
  run.launch = run.planned->launch;
  run.launch.commit = commit_of(command);
}

// Whoever cannot watch looks a second time, before the start and at the commit.
void watch_known_names(Session& session, const PlanRequest& question, PreparedRun& run) {
  const auto paths = session.planned_launches().names_of(question.policy);
  if (paths.empty()) return;
  auto names = host::NameWatch::open(paths, session.name_queues());
  if (names) run.names.emplace(std::move(*names));
}

Result<void> look_and_plan(Session& session, const Survey& survey, PlanRequest& question,
                           PreparedRun& run) {
  LOOM_TRY(run.facts, gather_facts(session, survey));
  run.planned = session.planned_launches().find(question, run.facts);
  if (run.planned) {
    recall(question.command, run);
    return {};
  }
  question.facts = *run.facts;
  LOOM_TRY(run.plan, session.backend().plan(question));
  return {};
}

Result<void> render(Session& session, const PlanRequest& question, PreparedRun& run) {
  if (run.planned) return {};
  LOOM_TRY(run.launch, session.backend().render(run.plan));
  // An audit that fails is told to whoever needs it.
  if (session.features().can_warm && audit_run(session, run)) {
    run.planned =
        session.planned_launches().remember(question, run.facts, run.plan, run.launch, run.audit);
  }
  return {};
}

// Before anybody asked for the run, nothing is done on the host that others could notice.
tl::unexpected<Error> not_ahead(const char* what) {
  return fail(ErrorCode::kUnsupported,
              std::string(what) + " is not made before a run is asked for");
}

// A plan that needs names on the host is made twice: the second time for a host that has them, and
// keeps them. Somebody else may be at work there, so that takes more than one try at times.
Result<void> settle_plan(Session& session, const Survey& survey, PlanRequest& question,
                         const RunRequest& request, PreparedRun& run) {
  std::string changed;
  for (int tries = 0; tries < kMaxPlanTries; ++tries) {
    LOOM_TRY_VOID(look_and_plan(session, survey, question, run));
    if (run.plan.to_make.empty() || request.for_show) return {};
    if (request.ahead) return not_ahead("a name for an absent protected path");
    if (run.scratch) {
      return fail(ErrorCode::kBackend,
                  "plan: names to make do not go together with a private scratch of the host's");
    }
    auto made = make_names(session, run.plan.to_make, question.facts);
    if (!made && made.error().code != ErrorCode::kDenied) {
      return tl::unexpected(std::move(made).error());
    }
    if (!made) {
      changed = std::move(made).error().message;
      continue;
    }
    const std::vector<MadeName> names = std::move(run.plan.to_make);
    LOOM_TRY_VOID(look_and_plan(session, survey, question, run));
    if (run.plan.to_make == names && shows_made_names(question.facts, names, made->identities())) {
      run.made.emplace(std::move(*made));
      return {};
    }
    changed =
        "protected path " + escaped(names.back().path.str()) + " changed while the run was planned";
  }
  return fail(ErrorCode::kDenied, changed + ", " + std::to_string(kMaxPlanTries) + " times");
}

// What a version-3 launch is judged by. The snapshot is taken before the first plan, so that one
// look at the policy's paths serves everything.
Result<guard::Snapshot> freeze_policy(Session& session, const RunRequest& request,
                                      const std::string& requested_path, const Survey& survey) {
  guard::FreezeGrounds grounds{.floor = floor_of(survey),
                               .written_before = session.written_before()};
  LOOM_TRY(const std::vector<MountFact> mounts,
           mounts_to_freeze_by(session, survey, grounds.written_before, request.exec));
  grounds.mounts = &mounts;
  return guard::Snapshot::take(
      request.policy, request.exec,
      search_path_of(requested_path, session.options().search_path, survey, grounds), request.layer,
      grounds);
}

// The view does not depend on the program, so it is the one that the program was judged by.
Result<void> plan_with_program(Session& session, const PlanRequest& question, PreparedRun& run) {
  LOOM_TRY(JailPlan plan, session.backend().plan(question));
  if (plan.view != run.plan.view || plan.to_make.size() != run.plan.to_make.size()) {
    return fail(ErrorCode::kBackend, "plan: the view changed with the program");
  }
  run.plan = std::move(plan);
  return {};
}

// Whoever is told that no rule allows a program may have written one that was dropped.
void explain_dropped(const guard::Snapshot& snapshot, Denial& denial) {
  if (!denial.real || denial.reason != "not_allowed") return;
  const auto real = AbsolutePath::parse(*denial.real);
  if (!real || real->is_root()) return;
  const std::string* const remark = snapshot.why_dropped(law::Subject::file(*real));
  if (remark != nullptr) denial.hint = one_line(*remark);
}

Admission<void> admit_program(Session& session, const Survey& survey,
                              const guard::Snapshot& snapshot, PlanRequest& question,
                              PreparedRun& run) {
  LOOM_TRY(run.mounts, mounts_that_matter(session, snapshot));
  const guard::ShownView shown = shown_view_of(run.plan, survey, question.facts, run.mounts);
  const guard::Guard guard(snapshot, shown, session.pins());
  auto admitted = guard::admit(guard, run.command.argv.front(), run.command.cwd, session.linkers());
  if (!admitted) {
    explain_dropped(snapshot, admitted.error());
    return tl::unexpected<Refusal>(std::move(admitted).error());
  }
  run.admitted = std::move(*admitted);
  for (std::string& entry : describe_entries(guard, shown)) run.extras.push_back(std::move(entry));
  run.needs_exec_layer = question.exec->restrictive && question.exec->required;
  question.command.program = run.admitted->program();
  question.exec->support = run.admitted->kernel_table().support();
  LOOM_TRY_VOID(plan_with_program(session, question, run));
  run.exec = question.exec;
  return {};
}

Result<void> engage_caretaker(Session& session, PreparedRun& run) {
  if (run.made) return {};
  LOOM_TRY(host::MadeNames nothing_made, session.make_names({}));
  run.made.emplace(std::move(nothing_made));
  return {};
}

// Where no pid namespace ends a jail with its first process, the caretaker ends it: whoever left
// the group, and everybody when the helper is killed.
bool ends_by_itself(const LaunchSpec& launch) {
  if (launch.jailed_pids) return true;
  return launch.image != ImageKind::kLauncher && host::can_die_with_parent();
}

// A survey whose private scratch has got its place. Left out for everybody else: copying costs.
struct PlacedSurvey {
  const Survey* survey = nullptr;  // `own`, or the session's
  std::optional<Survey> own{};
  std::optional<AbsolutePath> scratch{};

  [[nodiscard]] const Survey& get() const { return own ? *own : *survey; }
};

// For a plan that is only shown a name will do.
Result<AbsolutePath> make_scratch(Session& session, const PrivateScratch& wanted, bool for_show,
                                  PreparedRun& run) {
  if (for_show) {
    return AbsolutePath::parse((wanted.parent.is_root() ? "" : wanted.parent.str()) + "/" +
                               wanted.prefix + "example");
  }
  LOOM_TRY_VOID(engage_caretaker(session, run));
  LOOM_TRY(
      host::PrivateScratch made,
      host::PrivateScratch::make(wanted.parent, wanted.prefix, [&run](const AbsolutePath& place) {
        return run.made->guard_scratch(place);
      }));
  run.scratch.emplace(std::move(made));
  return run.scratch->path();
}

// LOOM_SCRATCH_DIR names the scratch, and nothing that lies in it is ever run by its bare name.
Result<PlacedSurvey> place_scratch(Session& session, const RunRequest& request, PreparedRun& run) {
  PlacedSurvey placed;
  LOOM_TRY(placed.survey, session.survey(request.policy));
  if (!placed.survey->private_scratch) return placed;
  if (request.ahead) return not_ahead("a private scratch");
  const PrivateScratch wanted = *placed.survey->private_scratch;
  LOOM_TRY(placed.scratch, make_scratch(session, wanted, request.for_show, run));
  placed.own = *placed.survey;
  placed.own->scratch_dir = placed.scratch->str();
  placed.own->search_excluded.push_back(*placed.scratch);
  return placed;
}

void note_example(const PlacedSurvey& placed, JailPlan& plan) {
  if (!placed.scratch) return;
  plan.notes.push_back("The private scratch " + escaped(placed.scratch->str()) +
                       " is an example and was not made: every run gets a fresh directory with "
                       "another name.");
}

Result<void> check_demand(Session& session, PreparedRun& run) {
  if (session.options().demand == Demand::kBestEffort) return {};
  LOOM_TRY_VOID(audit_run(session, run));
  return refuse_known_unmet(session, run);
}

}  // namespace

Admission<PreparedRun> prepare_run(Session& session, RunRequest request) {
  LOOM_TRY_VOID(check_directory(request.cwd));
  LOOM_TRY_VOID(session.finish_probing());
  if (session.facts().ceilings.available) {
    LOOM_TRY_VOID(refuse_ceilings_in_reach(request.policy));
  }

  PreparedRun run;
  run.id = request.id;
  LOOM_TRY(const PlacedSurvey placed, place_scratch(session, request, run));
  const Survey& survey = placed.get();
  const auto wanted = request.environment.find("PATH");
  const std::string requested_path = wanted == request.environment.end() ? "" : wanted->second;
  if (placed.scratch && request.home_in_scratch) {
    request.environment["HOME"] = placed.scratch->str();
  }
  run.command = make_command(session, request, requested_path, survey);
  std::optional<guard::Snapshot> snapshot;
  std::optional<ExecRules> rules;
  if (request.exec.version >= kExecVersion) {
    LOOM_TRY(snapshot, freeze_policy(session, request, requested_path, survey));
    rules = snapshot->rules();
    run.remarks = snapshot->remarks();
    if (rules->restrictive) scrub(run);
  }
  run.policy = std::move(request.policy);
  PlanRequest question{.policy = run.policy,
                       .command = run.command,
                       .exec = std::move(rules),
                       .demand = session.options().demand,
                       .deny_unix_sockets = session.options().deny_unix_sockets,
                       .explain_filter = request.for_show,
                       .keep_capabilities = session.options().keep_capabilities,
                       .private_scratch = placed.scratch,
                       .facts = {},
                       .nonce = session.next_nonce()};
  const bool starts = !request.for_show && !request.may_have_jail;
  if (starts) watch_known_names(session, question, run);
  LOOM_TRY_VOID(settle_plan(session, survey, question, request, run));
  if (snapshot) LOOM_TRY_VOID(admit_program(session, survey, *snapshot, question, run));
  if (request.for_show) note_example(placed, run.plan);
  if (request.for_show && !run.plan.to_make.empty()) return run;  // not what would be rendered
  LOOM_TRY_VOID(render(session, question, run));
  LOOM_TRY_VOID(check_demand(session, run));
  if (!request.for_show && !ends_by_itself(run.launch)) {
    if (request.ahead) return not_ahead("a caretaker");
    LOOM_TRY_VOID(engage_caretaker(session, run));
  }
  return run;
}

Result<void> audit_run(Session& session, PreparedRun& run) {
  if (run.audited) return {};
  if (run.planned) {
    run.audit = run.planned->audit;
  } else {
    LOOM_TRY(run.audit, session.backend().audit(run.plan));
  }
  run.audited = true;
  return {};
}

}  // namespace loom::app
