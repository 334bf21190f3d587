#include "app/known_unmet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/prepare_run.h"

namespace loom::app {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

HostFacts facts_of(const char* os) {
  HostFacts facts;
  facts.os = os;
  facts.ceilings = {.available = false, .reason = "no control groups here"};
  return facts;
}

// As a backend for macOS would audit it: the profile, and in it the exec table.
PreparedRun seatbelt_run() {
  PreparedRun run;
  run.audit.when_witnessed = {"seatbelt", "seatbelt-fs:rw=3", "seatbelt-net"};
  run.audit.when_silent = {"skip:seatbelt: the inner stage sent no report"};
  run.policy.limits.mem_bytes = 1 << 30;
  run.policy.limits.pids = 64;
  run.policy.limits.cpu_s = 10;
  run.policy.limits.fsize_bytes = 1 << 20;
  return run;
}

Features seatbelt_features() {
  Features features;
  features.tags = {"rlimits", "pgroup", "seatbelt"};
  features.exec = ExecSupport::kRendered;
  return features;
}

std::vector<std::string> missing(const PreparedRun& run, Demand demand) {
  return unmet_layers({.demand = demand, .policy = &run.policy, .exec_rules = run.needs_exec_layer},
                      "darwin", false,
                      best_possible_entries(facts_of("darwin"), seatbelt_features(), run));
}

TEST(KnownUnmetTest, OnMacOSThePlatformDemandCanBeMetAndTheFullOneNever) {
  const PreparedRun run = seatbelt_run();

  EXPECT_THAT(missing(run, Demand::kPlatform), IsEmpty());
  EXPECT_THAT(missing(run, Demand::kFull), ElementsAre("darwin-process-lifecycle"));
  EXPECT_THAT(missing(run, Demand::kBestEffort), IsEmpty());
}

TEST(KnownUnmetTest, OnMacOSWhatTheAuditDoesNotClaimIsKnownToBeUnmet) {
  PreparedRun run = seatbelt_run();
  run.audit.when_witnessed = {"seatbelt", "seatbelt-fs:rw=3"};
  EXPECT_THAT(missing(run, Demand::kPlatform), ElementsAre("seatbelt-net"));

  run = seatbelt_run();
  run.policy.network.mode = NetworkMode::kProxy;
  EXPECT_THAT(missing(run, Demand::kPlatform), ElementsAre("network-proxy"));
}

// The table is in the profile, so its claim comes with the profile's and with no rule set of its
// own.
TEST(KnownUnmetTest, OnMacOSTheExecTableIsClaimedByTheAudit) {
  PreparedRun run = seatbelt_run();
  run.needs_exec_layer = true;
  EXPECT_THAT(missing(run, Demand::kPlatform), ElementsAre("seatbelt-exec"));

  run.audit.extras.emplace_back("seatbelt-exec:allow=1,deny=0");
  EXPECT_THAT(missing(run, Demand::kPlatform), IsEmpty());
}

TEST(KnownUnmetTest, OnlyLinuxIsAskedForAControlGroup) {
  const Policy policy = seatbelt_run().policy;
  const CeilingOutcome mac = ceilings_of(facts_of("darwin"), policy);
  EXPECT_FALSE(mac.memory_asked);
  EXPECT_FALSE(mac.pids_asked);

  const CeilingOutcome linux = ceilings_of(facts_of("linux"), policy);
  EXPECT_TRUE(linux.memory_asked);
  EXPECT_TRUE(linux.pids_asked);
  EXPECT_EQ(linux.reason, "no control groups here");
  EXPECT_FALSE(ceilings_of(facts_of("linux"), Policy{}).memory_asked);
}

TEST(KnownUnmetTest, OnMacOSNoReportSpeaksOfAControlGroup) {
  EXPECT_THAT(best_possible_entries(facts_of("darwin"), seatbelt_features(), seatbelt_run()),
              AllOf(Contains("rlimit-processes"), Not(Contains(HasSubstr("cgroup-v2")))));
}

TEST(KnownUnmetTest, OnLinuxNothingOfMacOSIsExpected) {
  PreparedRun run = seatbelt_run();
  run.audit.when_witnessed = {"bwrap", "mounts:ro=1"};
  Features features;
  features.tags = {"landlock", "seccomp"};
  HostFacts facts = facts_of("linux");
  facts.ceilings = {.available = true, .reason = {}};

  EXPECT_THAT(best_possible_entries(facts, features, run),
              ElementsAre("bwrap", "mounts:ro=1", "cgroup-v2", "no-new-privs", "landlock",
                          "seccomp-net", "rlimit-cpu", "rlimit-fsize"));
}

}  // namespace
}  // namespace loom::app
