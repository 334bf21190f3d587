#include "app/person_run.h"

#include <loom/utf8.h>
#include <loom/view_replay.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "app/load_policy.h"
#include "guard/walk.h"
#include "host/path_survey.h"

#if !defined(__linux__)
extern char** environ;  // POSIX has it, and no header that declares it
#endif

namespace loom::app {
namespace {

Caller this_caller() {
  Caller caller;
  char buffer[PATH_MAX];
  if (::getcwd(buffer, sizeof buffer) != nullptr) caller.directory = buffer;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const char* mark = std::strchr(*variable, '=');
    if (mark != nullptr)
      caller.environment[std::string(*variable, static_cast<std::size_t>(mark - *variable))] =
          mark + 1;
  }
  return caller;
}

// A jail maps one uid only: somebody else's workspace would show files of "nobody" that cannot be
// written.
Result<void> check_workspace(const AbsolutePath& path) {
  const std::string what = "workspace " + escaped(path.str());
  const auto landing = guard::walk(path.str());
  if (!landing) return tl::unexpected(guard::to_error(landing.error(), what));
  const auto info = landing->status();
  if (!info) return tl::unexpected(guard::to_error(info.error(), what));
  if (info->st_uid == ::geteuid()) return {};
  return fail(ErrorCode::kDenied, what + " belongs to uid " + std::to_string(info->st_uid) +
                                      " and you are uid " + std::to_string(::geteuid()) +
                                      ": run as that user");
}

Result<Policy> policy_for(const RunOptions& options, const Caller& caller) {
  if (!options.policy_file.empty()) return load_policy(options.policy_file);
  LOOM_TRY(Policy policy, policy_of(options, caller));
  LOOM_TRY_VOID(check_workspace(policy.writable_roots.front()));
  return policy;
}

std::string what_it_is(const MountOperation& operation) {
  if (operation.mount_class == MountClass::kProtected) return " is protected";
  return " is the " + std::string(mount_class_name(operation.mount_class));
}

// What the command writes there must reach the host: a workspace below the jail's own /tmp would be
// gone afterwards, and nobody would have said so.
Result<void> check_writable(const PreparedRun& run) {
  const ViewReplay shown(run.plan.view);
  for (const AbsolutePath& root : run.policy.writable_roots) {
    const MountOperation* const effective = shown.effective(host::survey_path(root).real);
    if (effective != nullptr && !is_host_writable(effective->mount_class)) {
      return fail(ErrorCode::kDenied, "what is written to " + escaped(root.str()) +
                                          " would not be kept: in the jail, " +
                                          effective->region.str() + what_it_is(*effective));
    }
  }
  return {};
}

}  // namespace

Result<PersonGrounds> open_for_person(RunOptions& options, Purpose purpose, spdlog::logger& log) {
  PersonGrounds grounds{.caller = this_caller(), .policy = {}, .session = nullptr};
  const Caller& caller = grounds.caller;
  if (caller.directory.empty()) {
    return fail(ErrorCode::kSystem, "the current directory does not exist any more");
  }
  resolve_parent_steps(options, caller.directory);
  LOOM_TRY(grounds.policy, policy_for(options, caller));
  LOOM_TRY(const host::Installation installation, host::find_installation());
  const auto path = caller.environment.find("PATH");
  const auto base = caller.environment.find(kCgroupBaseVariable);
  const std::string configured = base == caller.environment.end() ? "" : base->second;
  const Limits& limits = grounds.policy.limits;
  LOOM_TRY(grounds.session,
           Session::open(
               installation,
               {.backend = options.backend,
                .search_path = path == caller.environment.end() ? "" : path->second,
                .untrusted = writable_regions(grounds.policy),
                .demand = purpose == Purpose::kRun ? options.demand : Demand::kBestEffort,
                .keep_capabilities = options.keep_capabilities,
                .deny_unix_sockets = options.deny_unix_sockets,
                .cgroup_base = configured_cgroup_base(options.cgroup_base, configured),
                .may_need_groups = purpose != Purpose::kAsk && (limits.mem_bytes || limits.pids),
                .runs_once = true,
                .starts_nothing = purpose == Purpose::kAsk && options.requests_file.empty()},
               log));
  return grounds;
}

Admission<PersonRun> decide_for_person(RunOptions options, Purpose purpose, spdlog::logger& log) {
  LOOM_TRY(PersonGrounds grounds, open_for_person(options, purpose, log));
  const Caller& caller = grounds.caller;
  Policy& policy = grounds.policy;
  std::unique_ptr<Session>& session = grounds.session;
  LOOM_TRY_VOID(session->finish_probing());
  LOOM_TRY(const Survey* const survey, session->survey(policy));
  const bool has_scratch =
      !policy.scratch.is_tmpfs() || survey->scratch_dir || survey->private_scratch;
  RunRequest request{.argv = options.command,
                     .environment = {},
                     .cwd = {},
                     .policy = {},
                     .exec = {},
                     .id = 1,
                     .for_show = purpose != Purpose::kRun,
                     .home_in_scratch = has_scratch && !chooses_home(options)};
  LOOM_TRY(request.environment, requested_environment(options, caller, policy, has_scratch));
  LOOM_TRY(request.cwd, directory_of(options, caller, policy));
  request.exec = exec_in_force(policy, nullptr);
  request.policy = std::move(policy);
  LOOM_TRY(PreparedRun run, prepare_run(*session, std::move(request)));
  if (options.policy_file.empty()) LOOM_TRY_VOID(check_writable(run));
  return PersonRun{.session = std::move(session), .run = std::move(run)};
}

}  // namespace loom::app
