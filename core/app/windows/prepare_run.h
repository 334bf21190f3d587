#pragma once

#include <loom/plan.h>

#include <string>
#include <vector>

#include "app/run_request.h"
#include "app/windows/session.h"

namespace loom::windows {

// Decided, and nothing started yet.
struct PreparedRun {
  Policy policy;
  LaunchSpec launch;
  Audit audit;
  std::vector<std::string> search;  // the directories of the command's PATH
};

// Survey, facts, environment, plan, render, audit, and the demand: everything that is known of a
// run is known before it starts. Every error is a refusal that names the thing.
[[nodiscard]] Result<PreparedRun> prepare_run(Session& session, app::RunRequest request);

}  // namespace loom::windows
