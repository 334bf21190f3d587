#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/conclude.h"
#include "report/entry_text.h"

namespace loom {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Entries = std::vector<std::string>;

Policy workspace_policy() {
  Policy policy;
  policy.limits.cpu_s = 300;
  policy.limits.mem_bytes = 1 << 30;
  policy.limits.pids = 64;
  policy.limits.fsize_bytes = 1 << 20;
  return policy;
}

Policy open_policy() {
  Policy policy;
  policy.network.mode = NetworkMode::kFull;
  return policy;
}

Entries linux_entries() {
  return {"bwrap",      "mounts:ro=1,rw=1", "cgroup-v2",    "rlimit-fsize",
          "rlimit-cpu", "landlock:abi=7",   "no-new-privs", "seccomp-net"};
}

Entries darwin_entries() {
  return {"seatbelt",         "seatbelt-fs:rw=1,mask=0",
          "seatbelt-net",     "rlimit-fsize",
          "rlimit-cpu",       "rlimit-address-space",
          "rlimit-processes", "skip:darwin-process-lifecycle: sampled"};
}

Entries without(Entries entries, std::string_view prefix) {
  Entries rest;
  for (const std::string& entry : entries) {
    if (entry.rfind(prefix, 0) != 0) rest.push_back(entry);
  }
  return rest;
}

Entries with(Entries entries, const std::string& entry) {
  entries.push_back(entry);
  return entries;
}

// The layers that are missing of a launch without an exec table.
Entries unmet(Demand demand, const Policy& policy, std::string_view os, bool degraded,
              const Entries& entries) {
  return unmet_layers({.demand = demand, .policy = &policy}, os, degraded, entries);
}

TEST(UnmetLayersTest, ACompleteLinuxReportMeetsEveryDemand) {
  for (const Demand demand : {Demand::kBestEffort, Demand::kPlatform, Demand::kFull}) {
    EXPECT_THAT(unmet(demand, workspace_policy(), "linux", false, linux_entries()), IsEmpty());
  }
}

TEST(UnmetLayersTest, EachRequiredLinuxLayerIsMissedByName) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"bwrap", "bwrap"},           {"mounts:", "mounts"},           {"landlock:", "landlock"},
      {"no-new", "no-new-privs"},   {"seccomp-net", "seccomp-net"},  {"cgroup-v2", "cgroup-v2"},
      {"rlimit-cpu", "rlimit-cpu"}, {"rlimit-fsize", "rlimit-fsize"}};
  for (const auto& [prefix, tag] : rows) {
    for (const Demand demand : {Demand::kPlatform, Demand::kFull}) {
      EXPECT_THAT(
          unmet(demand, workspace_policy(), "linux", false, without(linux_entries(), prefix)),
          ElementsAre(std::string(tag)));
    }
  }
}

TEST(UnmetLayersTest, BestEffortIsAlwaysMet) {
  EXPECT_THAT(unmet(Demand::kBestEffort, workspace_policy(), "linux", true, {"skip:bwrap: no"}),
              IsEmpty());
}

TEST(UnmetLayersTest, NothingMoreIsRequiredThanThePolicyAsksFor) {
  const Entries base = {"bwrap", "mounts:x", "landlock:abi=1", "no-new-privs"};

  EXPECT_THAT(unmet(Demand::kFull, open_policy(), "linux", false, base), IsEmpty());
}

TEST(UnmetLayersTest, ProxyNeedsTheNetworkFilterLikeOff) {
  Policy policy = open_policy();
  policy.network.mode = NetworkMode::kProxy;
  const Entries base = {"bwrap", "mounts:x", "landlock:abi=1", "no-new-privs"};

  EXPECT_THAT(unmet(Demand::kPlatform, policy, "linux", false, base), ElementsAre("seccomp-net"));
}

TEST(UnmetLayersTest, OneSkipOfAnyKindCountsOnLinux) {
  EXPECT_THAT(unmet(Demand::kPlatform, workspace_policy(), "linux", false,
                    with(linux_entries(), "skip:mounts: readable root /a is writable")),
              ElementsAre("mounts"));
  EXPECT_THAT(unmet(Demand::kPlatform, workspace_policy(), "linux", false,
                    with(linux_entries(), "skip:misspelled")),
              ElementsAre("misspelled"));
}

TEST(UnmetLayersTest, ALayerIsNamedOnceInTheTablesOrder) {
  EXPECT_THAT(unmet(Demand::kFull, workspace_policy(), "linux", false,
                    {"skip:cgroup-v2: x", "skip:stage2: y"}),
              ElementsAre("bwrap", "mounts", "landlock", "no-new-privs", "seccomp-net", "cgroup-v2",
                          "rlimit-cpu", "rlimit-fsize", "stage2"));
}

TEST(UnmetLayersTest, ASkipIsNotAnAppliedEntry) {
  EXPECT_THAT(unmet(Demand::kFull, open_policy(), "linux", false,
                    {"bwrap", "mounts:x", "skip:landlock: no", "no-new-privs"}),
              ElementsAre("landlock"));
}

TEST(UnmetLayersTest, DegradedAloneMissesTheOuterJail) {
  EXPECT_THAT(unmet(Demand::kPlatform, workspace_policy(), "linux", true, linux_entries()),
              ElementsAre("bwrap", "mounts"));
  EXPECT_THAT(unmet(Demand::kPlatform, workspace_policy(), "darwin", true, darwin_entries()),
              ElementsAre("seatbelt", "seatbelt-fs"));
}

TEST(UnmetLayersTest, UnheldEntriesAreHarmless) {
  EXPECT_THAT(unmet(Demand::kFull, workspace_policy(), "linux", false,
                    with(linux_entries(), "unheld:unix-path")),
              IsEmpty());
}

TEST(UnmetLayersTest, DarwinToleratesWhatItCannotPromiseOnlyUnderPlatform) {
  EXPECT_THAT(unmet(Demand::kPlatform, workspace_policy(), "darwin", false, darwin_entries()),
              IsEmpty());
  EXPECT_THAT(unmet(Demand::kFull, workspace_policy(), "darwin", false, darwin_entries()),
              ElementsAre("darwin-process-lifecycle"));
}

TEST(UnmetLayersTest, OnDarwinAToleratedLayerMayBeSkippedButNotSilent) {
  const Entries silent = without(darwin_entries(), "rlimit-processes");

  EXPECT_THAT(unmet(Demand::kPlatform, workspace_policy(), "darwin", false,
                    with(silent, "skip:rlimit-processes: no room")),
              IsEmpty());
  EXPECT_THAT(unmet(Demand::kPlatform, workspace_policy(), "darwin", false, silent),
              ElementsAre("rlimit-processes"));
  EXPECT_THAT(unmet(Demand::kPlatform, workspace_policy(), "darwin", false,
                    without(darwin_entries(), "skip:darwin")),
              ElementsAre("darwin-process-lifecycle"));
}

TEST(UnmetLayersTest, OnDarwinACeilingNobodyAskedForIsNotTolerated) {
  const Entries base = {"seatbelt", "seatbelt-fs:x", "skip:darwin-process-lifecycle: sampled"};

  EXPECT_THAT(unmet(Demand::kPlatform, open_policy(), "darwin", false, base), IsEmpty());
  EXPECT_THAT(unmet(Demand::kPlatform, open_policy(), "darwin", false,
                    with(base, "skip:rlimit-processes: no room")),
              ElementsAre("rlimit-processes"));
}

TEST(UnmetLayersTest, AnUnsupportedSystemIsJudgedByTheLinuxRules) {
  EXPECT_THAT(unmet(Demand::kPlatform, open_policy(), "plan9", true, {"skip:jail: none"}),
              ElementsAre("bwrap", "mounts", "landlock", "no-new-privs", "jail"));
}

TEST(UnmetLayersTest, ARequiredExecTableNeedsItsLayer) {
  const Policy policy = workspace_policy();
  const auto missing = [&](bool exec_rules, std::string_view os, const Entries& entries) {
    return unmet_layers({.demand = Demand::kPlatform, .policy = &policy, .exec_rules = exec_rules},
                        os, false, entries);
  };
  const Entries held = with(linux_entries(), "exec-landlock:rules=3,listed=1,support=2");
  const Entries unheld = with(linux_entries(), "unheld:exec-landlock=no Landlock");

  EXPECT_THAT(missing(true, "linux", held), IsEmpty());
  EXPECT_THAT(missing(true, "linux", linux_entries()), ElementsAre("exec-landlock"));
  EXPECT_THAT(missing(true, "linux", unheld), ElementsAre("exec-landlock"));
  EXPECT_THAT(missing(true, "darwin", darwin_entries()), ElementsAre("seatbelt-exec"));
  EXPECT_THAT(missing(true, "darwin", with(darwin_entries(), "seatbelt-exec:allow=1,deny=0")),
              IsEmpty());
  // A table that is not required is reported, and no demand fails by it.
  EXPECT_THAT(missing(false, "linux", unheld), IsEmpty());
  EXPECT_THAT(unmet_layers({.policy = &policy, .exec_rules = true}, "linux", false, {}), IsEmpty());
}

// enforcement-tags.md 5.3: what is tolerated when the policy asks for it is not when it does not.
TEST(UnmetLayersTest, DarwinToleratesACeilingOnlyWhereThePolicyAsksForIt) {
  const Entries base = {"seatbelt", "seatbelt-fs:x", "skip:darwin-process-lifecycle: sampled"};
  Policy memory = open_policy();
  memory.limits.mem_bytes = 1 << 30;
  Policy pids = open_policy();
  pids.limits.pids = 64;
  const Entries no_memory = with(base, "skip:rlimit-address-space: Invalid argument");
  const Entries no_pids = with(base, "skip:rlimit-processes: 10 left");

  EXPECT_THAT(unmet(Demand::kPlatform, memory, "darwin", false, no_memory), IsEmpty());
  EXPECT_THAT(unmet(Demand::kPlatform, pids, "darwin", false, no_pids), IsEmpty());
  EXPECT_THAT(unmet(Demand::kPlatform, pids, "darwin", false, no_memory),
              ElementsAre("rlimit-processes", "rlimit-address-space"));
  EXPECT_THAT(unmet(Demand::kPlatform, open_policy(), "darwin", false, no_pids),
              ElementsAre("rlimit-processes"));
  EXPECT_THAT(unmet(Demand::kFull, memory, "darwin", false, no_memory),
              ElementsAre("rlimit-address-space", "darwin-process-lifecycle"));
}

TEST(UnmetLayersTest, NoOtherSkipIsToleratedOnDarwin) {
  for (const char* skip : {"skip:cgroup-v2: none", "skip:seatbelt: no", "skip:network-proxy: x",
                           "skip:stage2: silent", "skip:darwin-process-lifecycl: misspelled"}) {
    EXPECT_THAT(
        unmet(Demand::kPlatform, workspace_policy(), "darwin", false, with(darwin_entries(), skip)),
        ElementsAre(std::string(entry_tag(skip))))
        << skip;
  }
  // Elsewhere the same skips are tolerated nowhere.
  EXPECT_THAT(unmet(Demand::kPlatform, workspace_policy(), "linux", false,
                    with(linux_entries(), "skip:darwin-process-lifecycle: sampled")),
              ElementsAre("darwin-process-lifecycle"));
}

}  // namespace
}  // namespace loom
