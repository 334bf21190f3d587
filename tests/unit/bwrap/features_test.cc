#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "backends/bwrap/kernel_facts.h"
#include "backends/bwrap/list_features.h"
#include "machine.h"

namespace loom::bwrap::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Features features_of(const HostFacts& facts) {
  const auto found = list_features(facts);
  EXPECT_TRUE(found.has_value());
  return found ? *found : Features{};
}

TEST(ListFeaturesTest, EverythingIsListedInTheOrderOfTheHello) {
  HostFacts facts = Machine().facts(empty_policy());
  facts.ceilings.available = true;
  const Features found = features_of(facts);
  EXPECT_THAT(found.tags, ElementsAre("rlimits", "pgroup", "bwrap", "landlock", "seccomp",
                                      "exec-landlock", "cgroup-v2"));
  EXPECT_EQ(found.exec, ExecSupport::kEnumerated);
  EXPECT_TRUE(found.absent.empty());
  EXPECT_FALSE(found.degraded);
  EXPECT_TRUE(found.refusal.empty());
}

TEST(ListFeaturesTest, MissingLayersAreNamedWithTheirReasonAndDoNotDegrade) {
  Machine machine;
  machine.kernel({.landlock_abi = 0,
                  .landlock_reason = "Operation not supported",
                  .seccomp = false,
                  .seccomp_reason = "Invalid argument"});
  HostFacts facts = machine.facts(empty_policy());
  facts.ceilings.reason = "no base";
  const Features found = features_of(facts);
  EXPECT_THAT(found.tags, ElementsAre("rlimits", "pgroup", "bwrap"));
  EXPECT_FALSE(found.degraded);
  EXPECT_THAT(
      found.absent,
      ElementsAre(AbsentFeature{.tag = "landlock", .reason = "Operation not supported"},
                  AbsentFeature{.tag = "seccomp", .reason = "Invalid argument"},
                  AbsentFeature{.tag = "exec-landlock", .reason = "Operation not supported"},
                  AbsentFeature{.tag = "cgroup-v2", .reason = "no base"}));
}

// guard 10.6
TEST(ListFeaturesTest, ExecRulesNeedLandlockAndTheFilter) {
  for (const auto& [abi, seccomp] : {std::pair{0U, true}, std::pair{1U, false}}) {
    Machine machine;
    machine.kernel({.landlock_abi = abi,
                    .landlock_reason = "no Landlock",
                    .seccomp = seccomp,
                    .seccomp_reason = "no filters"});
    const Features found = features_of(machine.facts(empty_policy()));
    EXPECT_EQ(found.exec, ExecSupport::kNone);
    EXPECT_THAT(found.tags, Not(Contains("exec-landlock")));
    EXPECT_THAT(found.absent,
                Contains(AbsentFeature{.tag = "exec-landlock",
                                       .reason = abi == 0 ? "no Landlock" : "no filters"}));
  }
  Machine machine;
  machine.kernel({.landlock_abi = 1, .landlock_reason = {}, .seccomp = true, .seccomp_reason = {}});
  EXPECT_THAT(features_of(machine.facts(empty_policy())).tags, Contains("exec-landlock"));
}

TEST(ListFeaturesTest, MissingLauncherDegradesAndMissingStage2Refuses) {
  const Features degraded = features_of(Machine().without_launcher().facts(empty_policy()));
  EXPECT_THAT(degraded.tags,
              ElementsAre("rlimits", "pgroup", "degraded", "landlock", "seccomp", "exec-landlock"));
  EXPECT_TRUE(degraded.degraded);
  EXPECT_EQ(degraded.absent.front(), (AbsentFeature{.tag = "bwrap", .reason = "no bwrap on PATH"}));
  EXPECT_TRUE(degraded.refusal.empty());

  const Features refused = features_of(Machine().without_stage2().facts(empty_policy()));
  EXPECT_TRUE(refused.degraded);
  EXPECT_THAT(refused.refusal, HasSubstr("no such file"));
}

TEST(ListFeaturesTest, FactsOfAnotherProbeAreRefused) {
  HostFacts facts = Machine().facts(empty_policy());
  facts.backend.back() = std::byte{0xc1};
  facts.backend.push_back(std::byte{0});
  EXPECT_FALSE(list_features(facts));
}

TEST(KernelFactsTest, BytesComeBackAsTheyWent) {
  const KernelFacts facts{.landlock_abi = 7,
                          .landlock_reason = "a",
                          .landlock_unclear = true,
                          .seccomp = true,
                          .seccomp_reason = "b",
                          .launcher = {.tried = true,
                                       .broken = "c",
                                       .by_handle = true,
                                       .no_handles = "d",
                                       .no_pids = "e",
                                       .no_cgroup = "f",
                                       .no_devices = "g",
                                       .no_network = "h",
                                       .no_cover = "i",
                                       .no_userns_ban = "j",
                                       .no_closed_masks = "k"}};
  const auto back = decode_kernel_facts(encode(facts));
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, facts);
  const auto none = decode_kernel_facts({});
  ASSERT_TRUE(none);
  EXPECT_EQ(none->landlock_abi, 0U);
  EXPECT_FALSE(none->landlock_reason.empty());
}

TEST(ListFeaturesTest, ABubblewrapThatBuildsNoJailDegradesInItsOwnWords) {
  KernelFacts kernel{.landlock_abi = 7,
                     .landlock_reason = {},
                     .seccomp = true,
                     .seccomp_reason = {},
                     .launcher = {}};
  kernel.launcher.tried = true;
  kernel.launcher.broken = "bubblewrap builds no jail here: odd";
  const HostFacts facts = Machine().kernel(kernel).facts(empty_policy());
  const Features found = features_of(facts);
  EXPECT_FALSE(has_jail(facts));
  EXPECT_TRUE(found.degraded);
  EXPECT_THAT(found.tags,
              ElementsAre("rlimits", "pgroup", "degraded", "landlock", "seccomp", "exec-landlock"));
  EXPECT_EQ(found.absent.front(),
            (AbsentFeature{.tag = "bwrap", .reason = "bubblewrap builds no jail here: odd"}));
  EXPECT_TRUE(found.refusal.empty());

  // What it can do without is a jail all the same.
  kernel.launcher.broken.clear();
  kernel.launcher.no_pids = kernel.launcher.no_devices = kernel.launcher.no_network = "why";
  EXPECT_FALSE(features_of(Machine().kernel(kernel).facts(empty_policy())).degraded);
}

}  // namespace
}  // namespace loom::bwrap::test
