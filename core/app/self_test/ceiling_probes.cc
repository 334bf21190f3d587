#include "app/self_test/ceiling_probes.h"

#include <signal.h>

#include <string>
#include <utility>

#include "app/self_test/account_processes.h"
#include "app/self_test/ceiling_verdicts.h"
#include "app/self_test/probe_base.h"

namespace loom::app {
namespace {

constexpr std::uint64_t kFewProcesses = 8;  // the launcher's own included
constexpr std::uint64_t kShortWall = 15;    // seconds
constexpr std::uint64_t kMemoryCeiling = 64u << 20;

// A shell may give up at the first refusal; that one was counted.
constexpr const char* kForkBomb = R"sh(
i=0
while [ $i -lt 32 ]; do
  sleep 1 &
  echo started
  i=$((i+1))
done
wait
echo all-ended
)sh";

constexpr const char* kFlood = "dd if=/dev/zero bs=65536 count=16";

constexpr const char* kGrowFile = R"sh(
if (echo small >"$1/small"); then echo SMALL-OK; fi
exec dd if=/dev/zero "of=$1/large" bs=4096 count=64
)sh";

// tail must keep what it may have to print, so it holds as much as it is asked for.
constexpr const char* kAllocate = R"sh(
allocate() { dd if=/dev/zero bs=1048576 "count=$1" | tail -c "$2" | wc -c; }
echo allocated $(allocate 8 8388608)
allocate 256 268435456
)sh";

// Where a ceiling is the account's and not the run's own.
Result<ProbeVerdict> probe_fork_burst(ProbeRig& rig) {
  if (!rig.has("rlimits")) return rig.without("rlimits");
  const auto running = count_account_processes();
  if (!running) return skipped(running.error().message);
  LOOM_TRY(const ProbeDirectory directory, rig.make_directory());
  Policy policy = base_policy(directory.path());
  policy.readable_roots = {rig.executable().parent()};
  policy.limits.pids = *running + kForkRoom;
  policy.limits.wall_s = kShortWall;
  LOOM_TRY(const ProbeRun run, rig.run({.policy = std::move(policy),
                                        .argv = {rig.executable().str(), "--probe-fork"}}));
  return judge_fork_burst(run);
}

}  // namespace

Result<ProbeVerdict> probe_fork_bomb(ProbeRig& rig) {
  if (rig.on_darwin()) return probe_fork_burst(rig);
  if (!rig.has("cgroup-v2")) return rig.without("cgroup-v2");
  LOOM_TRY(const ProbeDirectory directory, rig.make_directory());
  Policy policy = base_policy(directory.path());
  policy.limits.pids = kFewProcesses;
  policy.limits.wall_s = kShortWall;
  LOOM_TRY(const ProbeRun run, rig.shell(std::move(policy), kForkBomb, {}));
  return judge_forks(run);
}

Result<ProbeVerdict> probe_flood(ProbeRig& rig) {
  LOOM_TRY(const ProbeDirectory directory, rig.make_directory());
  Policy policy = base_policy(directory.path());
  policy.limits.output_bytes = kFloodCap;
  LOOM_TRY(const ProbeRun run, rig.shell(std::move(policy), kFlood, {}));
  return judge_flood(run);
}

Result<ProbeVerdict> probe_file_ceiling(ProbeRig& rig) {
  if (!rig.has("rlimits")) return rig.without("rlimits");
  LOOM_TRY(const ProbeDirectory directory, rig.make_directory());
  Policy policy = base_policy(directory.path());
  policy.limits.fsize_bytes = kFileCeiling;
  LOOM_TRY(ProbeRun run, rig.shell(std::move(policy), kGrowFile, {directory.path().str()}));
  return judge_file_ceiling({.run = std::move(run),
                             .signal_number = SIGXFSZ,
                             .small_size = directory.size("small"),
                             .large_size = directory.size("large")});
}

Result<ProbeVerdict> probe_memory_ceiling(ProbeRig& rig) {
  if (!rig.has("cgroup-v2")) return rig.without("cgroup-v2");
  LOOM_TRY(const ProbeDirectory directory, rig.make_directory());
  Policy policy = base_policy(directory.path());
  policy.limits.mem_bytes = kMemoryCeiling;
  LOOM_TRY(const ProbeRun run, rig.shell(std::move(policy), kAllocate, {}));
  return judge_memory(run);
}

}  // namespace loom::app
