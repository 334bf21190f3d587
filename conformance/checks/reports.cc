#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>

#include "../claims.h"
#include "../jail_run.h"
#include "../loopback.h"
#include "../scene.h"
#include "../stopped_launch.h"

namespace loom::conformance {
namespace {

// Which applied entry, or which skip, a clause makes due (docs/enforcement-tags.md 5.2).
struct Due {
  const char* clause;
  Words tags;
  Words names;
};

void expect(const JailRun& run, const Due& due, Judgement& judgement) {
  if (!entry_that_claims(run.entries, due.tags).empty()) return;
  if (!entry_that_names(run.entries, due.names).empty()) return;
  judgement.breach(std::string("the policy asks for ") + due.clause +
                   ", and the report neither claims nor names it");
}

void expect_complete(const JailRun& run, const Policy& policy, Judgement& judgement) {
  const Limits& limits = policy.limits;
  expect(run, {"a view of the files", {"bwrap", "seatbelt", "mounts", "landlock-fs"}, words::kView},
         judgement);
  if (!policy.protected_paths.empty()) {
    expect(run, {"a protected path", words::kFilesClaims, words::kProtected}, judgement);
  }
  expect(run, {"a private scratch", words::kFilesClaims, words::kScratch}, judgement);
  if (limits.cpu_s) expect(run, {"a CPU-time limit", {"rlimit-cpu"}, words::kCpu}, judgement);
  if (limits.fsize_bytes) {
    expect(run, {"a file-size limit", {"rlimit-fsize"}, words::kFileSize}, judgement);
  }
  if (limits.mem_bytes) {
    expect(run, {"a memory ceiling", {"cgroup-v2", "rlimit-address-space"}, words::kMemory},
           judgement);
  }
  if (limits.pids) {
    expect(run, {"a process ceiling", {"cgroup-v2", "rlimit-processes"}, words::kProcesses},
           judgement);
  }
  expect(run, {"a cut network", {"seccomp-net", "seatbelt-net"}, words::kNetwork}, judgement);
  if (policy.network.mode == NetworkMode::kProxy) {
    expect(run, {"a proxy's list", {}, words::kProxy}, judgement);
  }
}

// Everything at once; and where a part of it is refused by name, what is left without that part.
void judge_complete(const Subject& subject, Judgement& judgement) {
  const auto ground = Ground::make(subject, judgement);
  if (!ground) return;
  const Place& place = *ground->place;
  Policy policy = plain_policy(place);
  policy.protected_paths = {place.path("work/.env")};
  policy.limits = {.cpu_s = 50, .mem_bytes = 256u << 20, .pids = 64, .fsize_bytes = 1u << 20};
  policy.network = {.mode = NetworkMode::kProxy, .allow = {"example.org"}, .proxy = "127.0.0.1:1"};
  Policy mask_elsewhere = policy;
  mask_elsewhere.protected_paths = {place.path("elsewhere/hidden")};
  Policy no_proxy = policy;
  no_proxy.network = {};
  Policy neither = mask_elsewhere;
  neither.network = {};
  for (const Policy& asked : {policy, mask_elsewhere, no_proxy, neither}) {
    const JailRun run = ground->run(ground->spec(asked, {"pid"}), judgement);
    if (ran(run, "a policy with every limit", judgement)) {
      return expect_complete(run, asked, judgement);
    }
    if (!run.refused) return;
  }
}

void judge_true(const Subject& subject, Judgement& judgement) {
  const auto ground = Ground::make(subject, judgement);
  if (!ground) return;
  const auto listener = listen_abstract();
  if (!listener) return judgement.unjudged(listener.error().message);
  const Place& place = *ground->place;
  Policy policy = plain_policy(place);
  policy.limits = {.cpu_s = ClaimTrial::kCpuSeconds,
                   .pids = ClaimTrial::kProcesses,
                   .fsize_bytes = ClaimTrial::kFileBytes};
  ClaimTrial trial{.process = std::to_string(::getpid()), .socket = listener->name};
  JailRun run;
  // Where a mask inside of a grant is refused, one that nothing grants will do.
  for (const char* inside : {"work/.env", "elsewhere/hidden"}) {
    trial.masked = place.at(inside);
    policy.protected_paths = {place.path(inside)};
    run = ground->run(ground->spec(policy, trial.operations()), judgement);
    if (!run.refused) break;
  }
  if (ran(run, "a policy with a mask and limits", judgement)) {
    judge_claims(run, trial, judgement);
  }
}

bool is_zero(const std::string& hex) {
  return !hex.empty() && hex.find_first_not_of('0') == std::string::npos;
}

// What can be seen from outside of a claim at the moment at which it was reported.
void judge_reported(const StoppedLaunch& stopped, Judgement& judgement) {
  const auto claims = [&stopped](std::string_view tag) {
    return !entry_that_claims(stopped.report.applied, {tag}).empty();
  };
  const auto expect_now = [&](std::string_view tag, std::string_view what, bool holds) {
    if (claims(tag) && !holds) {
      judgement.breach("the inner stage reports " + std::string(tag) + " before " +
                       std::string(what));
    }
  };
  expect_now("no-new-privs", "no-new-privs is set", stopped.status("NoNewPrivs") == "1");
  expect_now("seccomp-net", "a filter is installed", stopped.status("Seccomp") == "2");
  expect_now("seccomp-deny", "a filter is installed", stopped.status("Seccomp") == "2");
  expect_now("caps", "its capabilities are gone", is_zero(stopped.status("CapEff")));
}

void judge_after_jail(const Subject& subject, Judgement& judgement) {
  const auto scene = Scene::open(subject, judgement);
  if (!scene) return;
  const Policy policy = masked_policy(*scene);
  const std::string masked = policy.protected_paths.front().str();
  const auto stopped = launch_and_stop(scene->session(), policy, scene->place());
  if (!stopped) {
    if (stopped.error().code == ErrorCode::kUnsupported) {
      return judgement.remark(stopped.error().message);
    }
    return judgement.breach("the launch: " + stopped.error().message);
  }
  judge_reported(*stopped, judgement);
  const bool jailed = !entry_that_claims(stopped->claims_when_witnessed, {"bwrap"}).empty();
  if (!jailed) return;
  if (stopped->same_mounts) {
    judgement.breach(
        "the inner stage reports from the helper's own mount namespace, and the audit "
        "claims a jail");
  }
  const std::string mask = " " + masked + " ";
  if (!stopped->same_mounts && stopped->mounts.find(mask) == std::string::npos) {
    judgement.breach("the inner stage reports before the mask of " + masked + " is in place");
  }
}

}  // namespace

std::vector<Check> report_checks() {
  return {
      {"report.complete", "Every clause asked for is claimed or named in the report.",
       judge_complete, 60},
      {"report.claims-true", "What the report claims, the command meets.", judge_true, 60},
      {"report.after-the-jail",
       "The inner stage reports once what it reports is in force, not before.", judge_after_jail,
       60},
  };
}

}  // namespace loom::conformance
