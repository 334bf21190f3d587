#pragma once

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

#include "app/self_test/probe_run.h"
#include "app/self_test/verdict.h"

namespace loom::app {

// A payload that printed `out` and ended with 0.
inline ProbeRun printed(std::string out, std::string err = {}) {
  ProbeRun run;
  run.out = std::move(out);
  run.err = std::move(err);
  return run;
}

inline ProbeRun reported(std::string out, std::vector<std::string> entries) {
  ProbeRun run = printed(std::move(out));
  run.result.enforcement = std::move(entries);
  return run;
}

MATCHER(IsEnforced, "is ENFORCED") {
  *result_listener << arg.reason;
  return arg.verdict == Verdict::kEnforced;
}

MATCHER_P(IsASkip, reason, "is SKIPPED with a reason that holds \"" + std::string(reason) + "\"") {
  *result_listener << arg.reason;
  return arg.verdict == Verdict::kSkipped && arg.reason.find(reason) != std::string::npos;
}

MATCHER_P(IsAFailure, detail,
          "is FAILED with a detail that holds \"" + std::string(detail) + "\"") {
  *result_listener << arg.reason;
  return arg.verdict == Verdict::kFailed && arg.reason.find(detail) != std::string::npos;
}

}  // namespace loom::app
