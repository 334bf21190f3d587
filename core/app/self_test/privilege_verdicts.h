#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "app/self_test/probe_run.h"
#include "app/self_test/verdict.h"

namespace loom::app {

inline constexpr std::string_view kMountsAllow = "MOUNTS-ALLOW";
inline constexpr std::string_view kOpened = "OPENED";

// A payload that tried to open a file of its own /proc for writing, which only Landlock refuses.
struct LandlockEvidence {
  ProbeRun run;
  bool helper_can_open = false;  // its own such file, outside any jail
};
[[nodiscard]] ProbeVerdict judge_landlock(const LandlockEvidence& seen);

// A payload that printed its /proc/self/status. The report's claims are held against it.
[[nodiscard]] ProbeVerdict judge_privileges(const ProbeRun& run);

// A system call that a jail refuses, and the errno it is refused with.
struct RefusedCall {
  std::string_view name;
  int refusal = 0;
};

// --probe-calls in a jail and without one: "call NAME ERRNO" for each (0: it worked), then
// kCallsDone.
struct CallEvidence {
  ProbeRun run;
  std::string control;
  std::vector<RefusedCall> calls;
};
inline constexpr std::string_view kCall = "call ";
inline constexpr std::string_view kCallsDone = "calls-done";
[[nodiscard]] ProbeVerdict judge_calls(const CallEvidence& seen);

// Answers by name. Lines that are none are passed over.
[[nodiscard]] std::map<std::string, int> parse_calls(std::string_view text);

}  // namespace loom::app
