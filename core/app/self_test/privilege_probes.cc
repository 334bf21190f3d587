#include "app/self_test/privilege_probes.h"

#include <fcntl.h>
#include <loom/unique_fd.h>

#include <string>
#include <utility>

#include "app/self_test/privilege_verdicts.h"
#include "app/self_test/probe_base.h"
#include "app/self_test/probed_calls.h"

namespace loom::app {
namespace {

// The mounts of a jail leave /proc writable where its owner may write; Landlock does not. `test -w`
// asks mounts and permissions, and Landlock is not asked (landlock(7): access(2) is not handled).
constexpr const char* kOpenOwnKnob = R"sh(
if [ -w /proc/self/oom_score_adj ]; then echo MOUNTS-ALLOW; fi
if (: >>/proc/self/oom_score_adj); then echo OPENED; fi
if (echo WRITTEN >"$1/allowed"); then echo ALLOWED-OK; fi
)sh";

bool can_open_own_knob() {
  const UniqueFd knob(::open("/proc/self/oom_score_adj", O_WRONLY | O_APPEND | O_CLOEXEC));
  return static_cast<bool>(knob);
}

}  // namespace

Result<ProbeVerdict> probe_landlock(ProbeRig& rig) {
  if (!rig.has("landlock")) return rig.without("landlock");
  LOOM_TRY(const ProbeDirectory directory, rig.make_directory());
  LOOM_TRY(ProbeRun run,
           rig.shell(base_policy(directory.path()), kOpenOwnKnob, {directory.path().str()}));
  return judge_landlock({.run = std::move(run), .helper_can_open = can_open_own_knob()});
}

Result<ProbeVerdict> probe_privileges(ProbeRig& rig) {
  LOOM_TRY(const ProbeDirectory directory, rig.make_directory());
  LOOM_TRY(const ProbeRun run,
           rig.shell(base_policy(directory.path()), "cat /proc/self/status", {}));
  return judge_privileges(run);
}

Result<ProbeVerdict> probe_refused_calls(ProbeRig& rig) {
  if (!rig.has("seccomp")) return rig.without("seccomp");
  LOOM_TRY(const ProbeDirectory directory, rig.make_directory());
  Policy policy = base_policy(directory.path());
  policy.readable_roots = {rig.executable().parent()};
  const std::vector<std::string> argv = {rig.executable().str(), "--probe-calls"};
  LOOM_TRY(ProbeRun run, rig.run({.policy = std::move(policy), .argv = argv}));
  LOOM_TRY(PlainRun control, rig.unjailed({.argv = argv}));
  return judge_calls(
      {.run = std::move(run), .control = std::move(control.out), .calls = probed_calls()});
}

}  // namespace loom::app
