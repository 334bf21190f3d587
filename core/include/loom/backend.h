#pragma once

#include <loom/features.h>
#include <loom/launch.h>
#include <loom/plan.h>
#include <loom/result.h>

#include <cstdint>
#include <memory>
#include <string_view>

namespace loom {

enum class LogLevel : std::int32_t { kDebug = 0, kInfo = 1, kWarning = 2, kError = 3 };

// What became of a launch that a probe tried.
struct TrialResult {
  std::int32_t code = 0;   // exit status, 128 + signal when it died of one
  bool timed_out = false;  // killed at the deadline
  std::string output{};    // standard output and error together, at most 64 KiB
  friend bool operator==(const TrialResult&, const TrialResult&) = default;
};

// Services the host lends for the life of the backend. Everything that acts goes through here: a
// backend forks nothing and keeps no descriptor.
class HostServices {
 public:
  HostServices() = default;
  HostServices(const HostServices&) = delete;
  HostServices& operator=(const HostServices&) = delete;
  virtual ~HostServices() = default;

  virtual void log(LogLevel level, std::string_view utf8) = 0;

  // Runs a launch with no input and its output collected. Only within probe(kBeforePlan).
  // kUnsupported: the kernel does not execute this image. Every other error may be gone next time.
  [[nodiscard]] virtual Result<TrialResult> try_launch(const LaunchSpec& launch,
                                                       std::uint32_t deadline_ms) = 0;

  // Forks, lends the descriptors and executes the image. Exactly once within start. Returns the
  // process id; the process stays the host's.
  [[nodiscard]] virtual Result<std::int32_t> spawn(const LaunchSpec& launch) = 0;

  // The next object that the exec table in force lets the kernel execute. Only within start, and
  // only of a launch that wants exec rules. kDenied, "exec_table_too_large: …", beyond its
  // ceilings.
  [[nodiscard]] virtual Result<ExecObject> next_exec_object() = 0;

  // A second, targeted reading of the process table: the children of `pid`, at this moment. Only
  // within targets. Empty when the process is gone.
  [[nodiscard]] virtual Result<std::vector<std::int32_t>> children(std::int32_t pid) = 0;
};

// What every backend is, seen from C++. features, survey, pieces, plan, render and audit are pure:
// same input, same bytes out, no system calls. Called from one thread, one call at a time.
class JailBackend {
 public:
  JailBackend() = default;
  JailBackend(const JailBackend&) = delete;
  JailBackend& operator=(const JailBackend&) = delete;
  virtual ~JailBackend() = default;

  // What this backend can enforce on a machine like `facts` (facts.backend from the first probe).
  [[nodiscard]] virtual Result<Features> features(const HostFacts& facts) const = 0;
  // Which paths the host must look at for this policy, and what the command may write.
  [[nodiscard]] virtual Result<Survey> survey(const SurveyRequest& request) const = 0;
  [[nodiscard]] virtual Result<Pieces> pieces() const = 0;
  // Reads the machine. What it returns becomes facts.backend.
  [[nodiscard]] virtual Result<Bytes> probe(const ProbeRequest& request) = 0;
  // Refuses (kDenied or kUnsupported, naming the thing) what it cannot realise; what it can only
  // weaken must show in audit.
  [[nodiscard]] virtual Result<JailPlan> plan(const PlanRequest& request) const = 0;
  [[nodiscard]] virtual Result<LaunchSpec> render(const JailPlan& plan) const = 0;
  // Replays the plan: for each path the policy names, what the jail would really allow.
  [[nodiscard]] virtual Result<Audit> audit(const JailPlan& plan) const = 0;
  // Calls HostServices::spawn exactly once with this very launch. Across the table it has no commit.
  [[nodiscard]] virtual Result<StartResult> start(const LaunchSpec& launch) = 0;
  // Sees the process table of a running jail from time to time. Most backends ignore it.
  [[nodiscard]] virtual Result<void> observe(const TargetsRequest& snapshot) = 0;
  // Whom to signal on this rung of the stop ladder.
  [[nodiscard]] virtual Result<Targets> targets(const TargetsRequest& request) = 0;
  // Forgets the run.
  virtual void finish() = 0;
};

}  // namespace loom
