#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <vector>

#include "child_process.h"
#include "scene.h"

namespace loom::conformance {
namespace {

#ifndef SYS_landlock_create_ruleset
constexpr long SYS_landlock_create_ruleset = 444;  // the same number everywhere
#endif

// From now on these calls are answered as by a kernel that does not have them. false: this kernel
// installs no filter.
bool pretend_to_lack(const std::vector<long>& calls) {
  std::vector<sock_filter> program = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0)};
  for (const long call : calls) {
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(call), 0, 1));
    program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS));
  }
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  sock_fprog filter{.len = static_cast<unsigned short>(program.size()), .filter = program.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0;
}

// The backend's first probe on a kernel that lacks `calls`, and then, unless `trial` is an error,
// its second one with that as the outcome of every trial launch.
Result<Bytes> probed_without(const Scene& scene, Judgement& judgement,
                             const std::vector<long>& calls, const Result<TrialResult>& trial) {
  RecordingHost host;
  host.trial = trial;
  LOOM_TRY(const auto instance, Instance::make(scene.table(), host, judgement));
  if (!calls.empty() && !pretend_to_lack(calls)) {
    return fail(ErrorCode::kSystem, "this kernel installs no filter");
  }
  HostFacts facts = scene.facts();
  facts.backend.clear();
  LOOM_TRY(facts.backend, instance->probe({.phase = ProbePhase::kBeforeHello, .facts = facts}));
  auto later = instance->probe({.phase = ProbePhase::kBeforePlan, .facts = facts});
  // A probe may say that it does not know just now; then what is known already stays.
  return later ? std::move(*later) : facts.backend;
}

struct Deprivation {
  const char* name;
  std::vector<long> calls;
  Result<TrialResult> trial;
};

std::vector<Deprivation> deprivations() {
  const TrialResult no_namespace{
      .code = 1, .timed_out = false, .output = "bwrap: No permissions to create new namespace\n"};
  const TrialResult nonsense{.code = 77, .timed_out = false, .output = ""};
  const TrialResult slow{.code = 137, .timed_out = true, .output = ""};
  const auto busy = fail(ErrorCode::kSystem, "start: Resource temporarily unavailable", EAGAIN);
  return {{"a kernel without Landlock", {SYS_landlock_create_ruleset}, no_namespace},
          {"a kernel without system-call filters", {SYS_seccomp}, no_namespace},
          {"a kernel without either", {SYS_landlock_create_ruleset, SYS_seccomp}, nonsense},
          {"a machine without user namespaces", {}, no_namespace},
          {"a machine too busy to try a launch", {}, Result<TrialResult>(busy)},
          {"a machine where launches never end", {}, slow}};
}

void add_without_pieces(std::vector<ImaginedMachine>& machines, const HostFacts& here) {
  const PieceFact none{.present = false, .path = {}, .reason = "not installed", .identity = {}};
  ImaginedMachine bare{.name = "a machine without a launcher", .facts = here};
  bare.facts.launcher = none;
  machines.push_back(bare);
  bare.name = "a machine without launcher and inner stage";
  bare.facts.stage2 = none;
  machines.push_back(bare);
  ImaginedMachine groups{.name = "a machine without control groups of version 2", .facts = here};
  groups.facts.ceilings = {.available = false, .reason = "cgroup v1"};
  machines.push_back(groups);
  groups.name = "a machine with control groups";
  groups.facts.ceilings = {.available = true, .reason = {}};
  machines.push_back(groups);
  ImaginedMachine user{.name = "a machine seen by another user", .facts = here};
  user.facts.uid = here.uid == 0 ? 1'000 : 0;
  user.facts.gid = user.facts.uid;
  machines.push_back(user);
  ImaginedMachine unprobed{.name = "a machine that nobody probed", .facts = here};
  unprobed.facts.backend.clear();
  machines.push_back(unprobed);
}

}  // namespace

std::vector<ImaginedMachine> imagined_machines(const Scene& scene, Judgement& judgement) {
  std::vector<ImaginedMachine> machines = {{.name = "this machine", .facts = scene.facts()}};
  add_without_pieces(machines, scene.facts());
  for (const Deprivation& lack : deprivations()) {
    const auto bytes =
        bytes_from_child([&] { return probed_without(scene, judgement, lack.calls, lack.trial); },
                         std::chrono::seconds(20));
    if (!bytes) {
      judgement.remark(std::string("not judged on ") + lack.name + ": " + bytes.error().message);
      continue;
    }
    ImaginedMachine machine{.name = lack.name, .facts = scene.facts()};
    machine.facts.backend = *bytes;
    machines.push_back(std::move(machine));
  }
  return machines;
}

}  // namespace loom::conformance
