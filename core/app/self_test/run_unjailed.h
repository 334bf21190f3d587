#pragma once

#include <loom/result.h>

#include <chrono>
#include <string>
#include <vector>

#include "app/self_test/stop_signals.h"

namespace loom::app {

inline constexpr const char* kProbePath = "/usr/local/bin:/usr/bin:/bin";

// A program run beside the jails, as the control of a probe or to build an adversary.
struct PlainJob {
  std::vector<std::string> argv;  // the first is an absolute path
  std::string directory = "/";
  std::chrono::seconds limit{60};
};

struct PlainRun {
  std::string out;  // at most 1 MiB, as err
  std::string err;
  int code = 0;  // exit status, or 128 + signal
  bool timed_out = false;
};

// Runs it with the probes' environment and an empty stdin, and kills what is left of its group.
// Fails when it could not be started, or when `stop` came.
[[nodiscard]] Result<PlainRun> run_unjailed(const PlainJob& job, StopSignals& stop);

}  // namespace loom::app
