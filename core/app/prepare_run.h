#pragma once

#include <loom/plan.h>

#include <map>
#include <string>
#include <vector>

#include "app/session.h"

namespace loom::app {

// One command to run, as a caller asks for it.
struct RunRequest {
  std::vector<std::string> argv;
  std::map<std::string, std::string> environment;  // requested; the policy's env_allow filters it
  std::string cwd;
  Policy policy;  // in force
};

// Decided, and nothing done yet.
struct PreparedRun {
  Policy policy;
  JailPlan plan;
  LaunchSpec launch;
  Audit audit;
  Command command;
};

inline constexpr std::size_t kMaxDirectoryBytes = 4'095;  // D19

// The whole story up to the start: survey, facts, environment, plan, render, audit, and the part of
// a demand that is known before anything runs. Every error is a refusal that names the thing.
[[nodiscard]] Result<PreparedRun> prepare_run(Session& session, RunRequest request);

}  // namespace loom::app
