#pragma once

#include <loom/report.h>
#include <loom/stage2_control.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "report/exec_result.h"

namespace loom {

// What was seen of one run's end; describe_outcome turns it into words. All optional parts are in
// the order in which they could have happened.
struct OutcomeFacts {
  int code = 0;  // of the process the host waited for
  int signal = 0;
  bool had_stage2 = false;     // this launch has an inner stage
  bool lost_end = false;       // nobody knows how the process ended; code says nothing
  bool cpu_limited = false;    // cpu_s was in force
  bool file_limited = false;   // fsize_bytes was in force
  bool fork_braked = false;    // forks beyond a budget were refused, and nobody counts refusals
  bool committed = false;      // the commit was sent
  bool running = false;        // the control channel closed after the commit: the command ran
  std::string refused_commit;  // not empty: why the host sent no commit
  std::string refused_demand;  // not empty: the layers that were missing, the command never ran
  std::optional<ControlMessage> failure;        // what stage 2 said before it gave up
  std::optional<std::int32_t> host_exec_error;  // errno of the host's own exec of the command
  std::optional<int> command_signal;            // the command's own end, from its pidfd; 0: exited
  bool cancelled = false;
  bool timed_out = false;
  std::optional<CeilingUse> use;  // of a run that was in a control group
  std::string first_cause;        // recorded by the host when it happened; may be empty
};

// Whether a launch of version 3 was held to a budget of processes: on macOS, where stage 2 says
// that the limit is in force. It says so for nobody whom the kernel holds to no limit.
[[nodiscard]] bool is_fork_braked(std::string_view os, const std::optional<InnerReport>& report);

[[nodiscard]] Outcome describe_outcome(const OutcomeFacts& facts);

}  // namespace loom
