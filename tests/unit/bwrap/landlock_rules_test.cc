#include "backends/bwrap/landlock_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include "backends/bwrap/render.h"
#include "machine.h"

namespace loom::bwrap::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsSubsetOf;
using ::testing::Not;

constexpr std::uint32_t kNewest = 7;

std::vector<LandlockRule> rules_of(const Machine& machine, const Policy& policy) {
  const auto memo = decode_run_memo(plan_of(machine, policy).backend);
  EXPECT_TRUE(memo.has_value());
  return memo ? landlock_rules(landlock_view(*memo), memo->kernel.landlock_abi)
              : std::vector<LandlockRule>{};
}

std::vector<std::string> paths_of(const std::vector<LandlockRule>& rules) {
  std::vector<std::string> all;
  for (const LandlockRule& rule : rules) all.push_back(rule.path);
  return all;
}

// Paths whose rule lets something be made in them.
std::vector<std::string> writable_paths(const std::vector<LandlockRule>& rules) {
  constexpr std::uint64_t kMakeRegular = 1U << 8U;
  std::vector<std::string> all;
  for (const LandlockRule& rule : rules) {
    if ((rule.access & kMakeRegular) != 0) all.push_back(rule.path);
  }
  return all;
}

const LandlockRule* rule_at(const std::vector<LandlockRule>& rules, const std::string& at) {
  const auto found = std::find_if(rules.begin(), rules.end(),
                                  [&at](const LandlockRule& rule) { return rule.path == at; });
  return found == rules.end() ? nullptr : &*found;
}

Machine roomy_machine() {
  Machine machine;
  machine.directory("/a").directory("/b").directory("/m").directory("/s");
  return machine;
}

Policy roomy_policy() {
  Policy policy = empty_policy();
  policy.writable_roots = paths({"/b", "/a"});
  policy.readable_roots = paths({"/opt"});
  return policy;
}

// cases.md 126, with the devices of D10
TEST(LandlockRulesTest, RulesComeAsRootReadableWritableDevicesScratch) {
  const auto rules = rules_of(roomy_machine(), roomy_policy());

  EXPECT_THAT(paths_of(rules),
              ElementsAre("/", "/opt", "/a", "/b", "/dev/null", "/dev/full", "/dev/random",
                          "/dev/tty", "/dev/urandom", "/dev/zero", "/dev/pts", "/dev/shm", "/tmp"));
  EXPECT_THAT(writable_paths(rules), ElementsAre("/a", "/b", "/dev/shm", "/tmp"));
  for (const LandlockRule& rule : rules) {
    EXPECT_EQ(rule.required, rule.path == "/" || rule.path == "/dev/null") << rule.path;
  }
  EXPECT_EQ(rules.front().access, kReadOnly);
  EXPECT_EQ(rule_at(rules, "/a")->access, kReadWrite);
}

// cases.md 126, without bubblewrap
TEST(LandlockRulesTest, DegradedRulesOpenOnlyTheNullDevice) {
  Machine machine = roomy_machine();
  machine.without_launcher();
  EXPECT_THAT(paths_of(rules_of(machine, roomy_policy())),
              ElementsAre("/", "/opt", "/a", "/b", "/dev/null"));
}

// cases.md 127
TEST(LandlockRulesTest, EmptyViewOpensTheRootForReading) {
  EXPECT_THAT(landlock_rules({}, kNewest),
              ElementsAre(LandlockRule{.path = "/", .access = kReadOnly, .required = true}));
}

// cases.md 128, 129, 133
TEST(LandlockRulesTest, TmpfsScratchIsOpenedOnlyWhereItIsMounted) {
  Machine degraded;
  degraded.without_launcher();
  EXPECT_THAT(writable_paths(rules_of(degraded, empty_policy())), ElementsAre());
  EXPECT_THAT(writable_paths(rules_of(Machine(), empty_policy())), ElementsAre("/dev/shm", "/tmp"));
}

// cases.md 130
TEST(LandlockRulesTest, HostScratchIsOpenedWithAndWithoutBubblewrap) {
  Policy policy = empty_policy();
  policy.scratch = host_scratch("/s");
  Machine degraded = roomy_machine();
  degraded.without_launcher();
  EXPECT_THAT(writable_paths(rules_of(degraded, policy)), ElementsAre("/s"));
  EXPECT_THAT(writable_paths(rules_of(roomy_machine(), policy)), ElementsAre("/dev/shm", "/s"));
}

// cases.md 131
TEST(LandlockRulesTest, NullDeviceIsAlwaysOpenAndTheDeviceDirectoryNever) {
  for (const bool jailed : {true, false}) {
    Machine machine = roomy_machine();
    if (!jailed) machine.without_launcher();
    const auto rules = rules_of(machine, roomy_policy());
    ASSERT_NE(rule_at(rules, "/dev/null"), nullptr);
    EXPECT_EQ(rule_at(rules, "/dev/null")->access,
              kExecute | kReadFile | kWriteFile | kTruncate | kDeviceIoctl);
    EXPECT_EQ(rule_at(rules, "/dev"), nullptr);
  }
}

TEST(LandlockRulesTest, ReadWriteMountsThatWereBoundAreWritable) {
  Policy policy = empty_policy();
  policy.mounts = {mount("/m", true, true), mount("/gone", true, false),
                   mount("/opt", false, true)};
  EXPECT_THAT(writable_paths(rules_of(roomy_machine(), policy)),
              ElementsAre("/m", "/dev/shm", "/tmp"));
  Machine degraded = roomy_machine();
  degraded.without_launcher();
  EXPECT_THAT(writable_paths(rules_of(degraded, policy)), ElementsAre());
}

// field B77
TEST(LandlockRulesTest, RightsAndScopesFollowTheKernelsAbi) {
  EXPECT_EQ(handled_rights(0), 0U);
  EXPECT_EQ(handled_rights(1), 0x1fffU);
  EXPECT_EQ(handled_rights(2), 0x3fffU);
  EXPECT_EQ(handled_rights(3), 0x7fffU);
  EXPECT_EQ(handled_rights(4), 0x7fffU);
  EXPECT_EQ(handled_rights(5), 0xffffU);
  EXPECT_EQ(handled_rights(9), 0xffffU);
  EXPECT_EQ(handled_scopes(5), 0U);
  EXPECT_EQ(handled_scopes(6), 3U);
  for (const std::uint32_t abi : {1U, 2U, 3U, 5U}) {
    for (const LandlockRule& rule : landlock_rules(
             {.readable = {"/r"}, .writable = {"/w"}, .devices = {}, .scratch = "/tmp"}, abi)) {
      EXPECT_EQ(rule.access & ~handled_rights(abi), 0U) << abi << ' ' << rule.path;
      EXPECT_NE(rule.access, 0U);
    }
  }
}

// A link to itself, say: stage 2 refuses a rule behind a link.
TEST(LandlockRulesTest, AnAbsentReadableRootHasNoRule) {
  Machine machine = roomy_machine();
  machine.missing("/circle", ELOOP);
  Policy policy = empty_policy();
  policy.readable_roots = paths({"/circle", "/opt"});
  const std::vector<std::string> named = paths_of(rules_of(machine, policy));
  EXPECT_THAT(named, Not(Contains("/circle")));
  EXPECT_THAT(named, Contains("/opt"));
}

TEST(LandlockRulesTest, RulesNameRealPaths) {
  Machine machine;
  machine.directory("/data/work");
  machine.linked("/work", "/data/work", {{.place = path("/work"), .target = "data/work"}});
  Policy policy = empty_policy();
  policy.writable_roots = paths({"/work"});
  EXPECT_THAT(paths_of(rules_of(machine, policy)), Contains("/data/work"));
  EXPECT_THAT(paths_of(rules_of(machine, policy)), Not(Contains("/work")));
}

}  // namespace
}  // namespace loom::bwrap::test
