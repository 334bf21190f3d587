#pragma once

#include <loom/absolute_path.h>
#include <loom/policy.h>
#include <loom/result.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "app/self_test/probe_base.h"
#include "app/self_test/probe_directory.h"
#include "app/self_test/probe_run.h"
#include "app/self_test/run_unjailed.h"
#include "app/self_test/stop_signals.h"
#include "app/self_test/verdict.h"
#include "app/session.h"

namespace loom::app {

// One payload for a jail.
struct ProbeJob {
  Policy policy;
  std::vector<std::string> argv;
  std::map<std::string, std::string> environment{{"PATH", kProbePath}};
  // Told everything that came on stdout so far, whenever more has come.
  std::function<void(std::string_view out)> on_output{};
};

// What all probes work with: the helper's own way into a jail, and plain processes beside it.
class ProbeRig {
 public:
  // Where to make probe directories, or why there is no such place.
  using Base = Result<AbsolutePath>;

  // `session` outlives the rig; `executable` is the helper's own.
  ProbeRig(Session& session, StopSignals stop, AbsolutePath executable)
      : session_(session), stop_(std::move(stop)), executable_(std::move(executable)) {}

  void set_base(Base base) { base_ = std::move(base); }

  // Runs `job` as any execution of the helper, with stdin closed at once. Fails, beginning
  // "spawn: ", when nothing was started.
  [[nodiscard]] Result<ProbeRun> try_run(ProbeJob job);
  // The same, and fails, beginning "setup: ", when the payload itself never ran. A probe that gets
  // a run back may judge it.
  [[nodiscard]] Result<ProbeRun> run(ProbeJob job);
  // `script` for /bin/sh, with `arguments` as $1 and so on.
  [[nodiscard]] Result<ProbeRun> shell(Policy policy, std::string script,
                                       std::vector<std::string> arguments);

  [[nodiscard]] Result<PlainRun> unjailed(const PlainJob& job) { return run_unjailed(job, stop_); }

  [[nodiscard]] Result<ProbeDirectory> make_directory() const;

  // Whether this machine has the layer, by its feature tag; and why it has not.
  [[nodiscard]] bool has(std::string_view tag) const;
  [[nodiscard]] std::string why_without(std::string_view tag) const;
  // The same of what keeps files apart here, and of what keeps the network out.
  [[nodiscard]] JailTags jail() const { return jail_tags(session_.facts().os); }
  [[nodiscard]] bool on_darwin() const { return session_.facts().os == "darwin"; }
  // The verdict of a probe whose layer is missing.
  [[nodiscard]] ProbeVerdict without(std::string_view tag) const;

  [[nodiscard]] Session& session() noexcept { return session_; }
  [[nodiscard]] StopSignals& stop() noexcept { return stop_; }
  // The helper itself, for payloads that are one of its probe modes.
  [[nodiscard]] const AbsolutePath& executable() const noexcept { return executable_; }
  void set_executable(AbsolutePath executable) { executable_ = std::move(executable); }

 private:
  Session& session_;
  StopSignals stop_;
  AbsolutePath executable_;
  Base base_ = fail(ErrorCode::kSystem, "no place for probe directories was chosen");
  std::uint64_t runs_ = 0;
};

// A script for /bin/sh as a command line.
[[nodiscard]] std::vector<std::string> shell_command(std::string script,
                                                     std::vector<std::string> arguments);

}  // namespace loom::app
