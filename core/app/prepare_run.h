#pragma once

#include <loom/plan.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/session.h"
#include "host/caretaker.h"

namespace loom::app {

// One command to run, as a caller asks for it.
struct RunRequest {
  std::vector<std::string> argv;
  std::map<std::string, std::string> environment;  // requested; the policy's env_allow filters it
  std::string cwd;
  Policy policy;         // in force
  std::uint64_t id = 1;  // the caller's; names the run's control group
  // Nothing will run, so nothing is made on the host: the plan says what would be.
  bool for_show = false;
};

// Decided, and nothing started yet.
struct PreparedRun {
  Policy policy;
  JailPlan plan;
  LaunchSpec launch;
  Audit audit;  // once audit_run was here
  bool audited = false;
  Command command;
  std::uint64_t id = 1;  // as RunRequest
  // Of plan.to_make, from the last look at the host to the end of the run; none when there are
  // none.
  std::optional<host::MadeNames> made;
};

inline constexpr std::size_t kMaxDirectoryBytes = 4'095;  // D19

// The whole story up to the start: survey, facts, environment, plan, what must be on the host for
// it and once more facts and plan, render, and, where there is a demand, audit and the part of the
// demand that is known before anything runs. Every error is a refusal that names the thing.
[[nodiscard]] Result<PreparedRun> prepare_run(Session& session, RunRequest request);

// The audit of a prepared run; once. Without a demand it waits for the start, so that it costs
// nothing while the jail is being set up.
[[nodiscard]] Result<void> audit_run(Session& session, PreparedRun& run);

}  // namespace loom::app
