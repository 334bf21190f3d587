#pragma once

#include <chrono>
#include <string_view>

#include "app/self_test/probe_run.h"
#include "app/self_test/verdict.h"

namespace loom::app {

inline constexpr std::string_view kOrphanStarted = "orphan-started";  // and a number
inline constexpr std::string_view kSetsidOk = "setsid-ok";
inline constexpr std::string_view kSetsidDenied = "setsid-denied";
inline constexpr std::string_view kSetsidSurvived = "setsid-survived";
inline constexpr std::string_view kLauncherDone = "launcher-done";
inline constexpr std::string_view kBeats = "beats";  // and a number

// The helper must be free again well before a payload's leftovers end by themselves.
inline constexpr std::chrono::milliseconds kMaxSettling{10'000};

// A payload that left something running behind. The host looked for it while the payload waited,
// and again when the run had settled.
struct LeftoverEvidence {
  ProbeRun run;
  bool seen_alive = false;
  bool gone = false;
  // A system without a jail that ends with its first process: an escape ends because the host saw
  // it and killed it, and the run must say so.
  bool must_be_swept = false;
};
[[nodiscard]] ProbeVerdict judge_orphan(const LeftoverEvidence& seen);
[[nodiscard]] ProbeVerdict judge_setsid_escape(const LeftoverEvidence& seen);

// A payload that left a process behind which counts in a file of the host.
struct HeartbeatEvidence {
  ProbeRun run;
  std::string first;   // what the file held after the run
  std::string second;  // and half a second later
  bool gone = false;
};
[[nodiscard]] ProbeVerdict judge_heartbeat(const HeartbeatEvidence& seen);

}  // namespace loom::app
