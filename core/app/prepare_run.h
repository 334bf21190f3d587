#pragma once

#include <loom/plan.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/planned_launch.h"
#include "app/run_request.h"
#include "app/session.h"
#include "guard/admission.h"
#include "host/caretaker.h"
#include "host/name_watch.h"
#include "host/private_scratch.h"
#include "report/denial.h"

namespace loom::app {

// Decided, and nothing started yet.
struct PreparedRun {
  Policy policy;
  std::shared_ptr<const HostFacts> facts;  // what the plan was made for
  JailPlan plan;  // empty where the launch was planned for an earlier command
  LaunchSpec launch;
  Audit audit;  // once audit_run was here
  bool audited = false;
  std::shared_ptr<PlannedLaunch> planned{};  // where the launch serves other commands too
  Command command;
  std::uint64_t id = 1;  // as RunRequest
  // Of the names that the launch of the same policy watched last, since before the facts were
  // gathered: names that are the same now need no second look.
  std::optional<host::NameWatch> names{};
  // Of plan.to_make, from the last look at the host to the end of the run, or of no names, where
  // the caretaker is needed for something else; none when it is not.
  std::optional<host::MadeNames> made;
  // The command's scratch, where that is a directory of the host; `made` has it removed when the
  // helper is killed.
  std::optional<host::PrivateScratch> scratch{};
  // Of a version-3 launch: the program that was judged, and what is told to the kernel.
  std::optional<guard::Admitted> admitted{};
  std::vector<MountFact> mounts{};  // that show again what matters to the guard
  std::optional<ExecRules> exec{};  // as the plan was asked
  // What the exec table does not hold as it was written: "mounts: …", without "skip:".
  std::vector<std::string> remarks{};
  bool needs_exec_layer = false;      // the exec table must be held by the kernel
  std::vector<std::string> extras{};  // what the host claims of the policy: "exec-dead=1"
};

inline constexpr std::size_t kMaxDirectoryBytes = 4'095;  // D19

// The whole story up to the start: survey, facts, environment, plan, what must be on the host for
// it and once more facts and plan, render, and, where there is a demand, audit and the part of the
// demand that is known before anything runs. For version 3 the exec table is frozen before the
// plan, the program is admitted on its view, and the plan is made again with both. A private
// scratch that the survey asks for is made before the first plan. Every error is a refusal that
// names the thing, and nothing is left on the host after it.
[[nodiscard]] Admission<PreparedRun> prepare_run(Session& session, RunRequest request);

// The audit of a prepared run; once. Without a demand it waits for the start, so that it costs
// nothing while the jail is being set up.
[[nodiscard]] Result<void> audit_run(Session& session, PreparedRun& run);

}  // namespace loom::app
