#include "app/person_run.h"

#include <loom/utf8.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "app/load_policy.h"
#include "guard/walk.h"
#include "host/path_survey.h"

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
  for (const AbsolutePath& root : run.policy.writable_roots) {
    const MountOperation* effective = nullptr;
    const AbsolutePath real = host::survey_path(root).real;
    for (const MountOperation& operation : run.plan.view) {
      if (real.is_within(operation.region)) effective = &operation;
    }
    const bool lost = effective != nullptr && effective->mount_class != MountClass::kWritable &&
                      effective->mount_class != MountClass::kMountReadWrite &&
                      effective->mount_class != MountClass::kPin;
    if (lost) {
      return fail(ErrorCode::kDenied, "what is written to " + escaped(root.str()) +
                                          " would not be kept: in the jail, " +
                                          effective->region.str() + what_it_is(*effective));
    }
  }
  return {};
}

}  // namespace

Result<PersonRun> decide_for_person(RunOptions options, Purpose purpose, spdlog::logger& log) {
  const bool for_show = purpose == Purpose::kShow;
  const Caller caller = this_caller();
  if (caller.directory.empty()) {
    return fail(ErrorCode::kSystem, "the current directory does not exist any more");
  }
  resolve_parent_steps(options, caller.directory);
  LOOM_TRY(Policy policy, policy_for(options, caller));
  LOOM_TRY(const host::Installation installation, host::find_installation());
  const auto path = caller.environment.find("PATH");
  const auto base = caller.environment.find(kCgroupBaseVariable);
  const std::string configured = base == caller.environment.end() ? "" : base->second;
  LOOM_TRY(auto session,
           Session::open(installation,
                         {.backend = options.backend,
                          .search_path = path == caller.environment.end() ? "" : path->second,
                          .untrusted = writable_regions(policy),
                          .demand = for_show ? Demand::kBestEffort : options.demand,
                          .keep_capabilities = options.keep_capabilities,
                          .deny_unix_sockets = options.deny_unix_sockets,
                          .cgroup_base = configured_cgroup_base(options.cgroup_base, configured),
                          .may_need_groups = policy.limits.mem_bytes || policy.limits.pids,
                          .runs_once = true},
                         log));
  LOOM_TRY_VOID(session->finish_probing());
  const bool has_scratch = !policy.scratch.is_tmpfs() || !session->features().degraded;
  RunRequest request{.argv = options.command,
                     .environment = {},
                     .cwd = {},
                     .policy = {},
                     .id = 1,
                     .for_show = for_show};
  LOOM_TRY(request.environment, requested_environment(options, caller, policy, has_scratch));
  LOOM_TRY(request.cwd, directory_of(options, caller, policy));
  request.policy = std::move(policy);
  LOOM_TRY(PreparedRun run, prepare_run(*session, std::move(request)));
  if (options.policy_file.empty()) LOOM_TRY_VOID(check_writable(run));
  return PersonRun{.session = std::move(session), .run = std::move(run)};
}

}  // namespace loom::app
