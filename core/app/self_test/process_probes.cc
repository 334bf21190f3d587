#include "app/self_test/process_probes.h"

#include <chrono>
#include <utility>

#include "app/self_test/probe_base.h"
#include "app/self_test/process_search.h"
#include "app/self_test/process_verdicts.h"

namespace loom::app {
namespace {

constexpr std::chrono::milliseconds kBetweenReadings{500};

// Payloads that leave something behind wait (ten seconds at most) until the host has looked at it
// and made $1/seen. The leftovers have a word of the probe directory in their command lines, which
// is how the host knows them.
constexpr const char* kLeaveOrphan = R"sh(
sh -c 'sleep 30; :' orphan "$1/orphan" &
echo "orphan-started $!"
i=0
while [ ! -e "$1/seen" ] && [ $i -lt 100 ]; do sleep 0.1; i=$((i+1)); done
)sh";

constexpr const char* kLeaveSession = R"sh(
"$2" --probe-setsid "$1/session" &
i=0
while [ ! -e "$1/seen" ] && [ $i -lt 100 ]; do sleep 0.1; i=$((i+1)); done
echo launcher-done
)sh";

// Counts for twenty seconds. A sleep that knows no fractions ends it at once: then nothing beats,
// and the probe says so.
constexpr const char* kLeaveHeartbeat = R"sh(
(
  i=0
  while [ $i -lt 200 ]; do
    i=$((i+1))
    echo $i >"$1/beat.new" && mv "$1/beat.new" "$1/beat"
    sleep 0.1 || exit 1
  done
) &
n=0 i=0
while [ $n -lt 2 ] && [ $i -lt 100 ]; do
  sleep 0.1
  i=$((i+1))
  if [ -s "$1/beat" ]; then n=$(cat "$1/beat"); fi
done
echo "beats $n"
)sh";

// Runs `job`, and once it has printed `word` looks for the process it left behind.
Result<LeftoverEvidence> watch_leftover(ProbeRig& rig, const ProbeDirectory& directory,
                                        ProbeJob job, std::string_view word,
                                        const std::string& leftover) {
  LeftoverEvidence seen;
  bool looked = false;
  job.on_output = [&](std::string_view out) {
    if (looked || !holds(out, word)) return;
    looked = true;
    // The shell that starts it has the directory in its command line too, but not this word.
    seen.seen_alive = process_appears(leftover, rig.stop());
    static_cast<void>(directory.write("seen", "yes\n"));
  };
  LOOM_TRY(seen.run, rig.run(std::move(job)));
  seen.gone = processes_vanish(leftover, rig.stop());
  return seen;
}

}  // namespace

Result<ProbeVerdict> probe_orphan(ProbeRig& rig) {
  LOOM_TRY(const ProbeDirectory directory, rig.make_directory());
  LOOM_TRY(const LeftoverEvidence seen,
           watch_leftover(rig, directory,
                          {.policy = base_policy(directory.path()),
                           .argv = shell_command(kLeaveOrphan, {directory.path().str()})},
                          kOrphanStarted, directory.at("orphan").str()));
  return judge_orphan(seen);
}

Result<ProbeVerdict> probe_setsid_escape(ProbeRig& rig) {
  if (!rig.has(rig.jail().file_system)) return rig.without(rig.jail().file_system);
  LOOM_TRY(const ProbeDirectory directory, rig.make_directory());
  Policy policy = base_policy(directory.path());
  policy.readable_roots = {rig.executable().parent()};
  LOOM_TRY(LeftoverEvidence seen,
           watch_leftover(rig, directory,
                          {.policy = std::move(policy),
                           .argv = shell_command(kLeaveSession,
                                                 {directory.path().str(), rig.executable().str()})},
                          kSetsidOk, directory.at("session").str()));
  seen.must_be_swept = rig.on_darwin();
  return judge_setsid_escape(seen);
}

Result<ProbeVerdict> probe_heartbeat(ProbeRig& rig) {
  LOOM_TRY(const ProbeDirectory directory, rig.make_directory());
  HeartbeatEvidence seen;
  LOOM_TRY(seen.run,
           rig.shell(base_policy(directory.path()), kLeaveHeartbeat, {directory.path().str()}));
  seen.first = directory.read("beat").value_or("");
  rig.stop().pause(kBetweenReadings);
  seen.second = directory.read("beat").value_or("");
  // Unlike the others this leftover is a copy of the whole payload, whose words it shares.
  seen.gone = processes_vanish(directory.path().str(), rig.stop());
  return judge_heartbeat(seen);
}

}  // namespace loom::app
