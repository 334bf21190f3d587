#include "backends/bwrap/targets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "backends/bwrap/bwrap_backend.h"

namespace loom::bwrap::test {
namespace {

using ::testing::ElementsAre;

// Lists children from a table of its own and counts what it was asked to spawn.
class ListingHost final : public HostServices {
 public:
  void log(LogLevel /*level*/, std::string_view /*utf8*/) override {}
  Result<TrialResult> try_launch(const LaunchSpec& /*launch*/, std::uint32_t /*ms*/) override {
    return fail(ErrorCode::kUnsupported, "no launches here");
  }
  Result<std::int32_t> spawn(const LaunchSpec& launch) override {
    spawned.push_back(launch);
    return 100;
  }
  Result<ExecObject> next_exec_object() override { return fail(ErrorCode::kBackend, "not here"); }
  Result<std::vector<std::int32_t>> children(std::int32_t pid) override {
    const auto found = lists.find(pid);
    return found == lists.end() ? std::vector<std::int32_t>{} : found->second;
  }

  std::map<std::int32_t, std::vector<std::int32_t>> lists;
  std::vector<LaunchSpec> spawned;
};

std::vector<ProcessRow> rows(const std::vector<std::pair<int, int>>& pid_and_parent) {
  std::vector<ProcessRow> table;
  for (const auto& [pid, parent] : pid_and_parent) {
    table.push_back({.pid = pid, .parent = parent, .birth = static_cast<std::uint64_t>(pid) * 10});
  }
  return table;
}

Targets targets_for(const std::vector<std::pair<int, int>>& table, ListingHost& host,
                    Rung rung = Rung::kTerm, bool launched = true) {
  return targets(
      {.rung = rung, .child = 100, .jailed_pids = true, .launched = launched, .table = rows(table)},
      host);
}

// Of a jail that has no pid namespace: the supervisor's child is the command itself.
Targets targets_without_namespace(const std::vector<std::pair<int, int>>& table,
                                  ListingHost& host) {
  return targets({.rung = Rung::kTerm,
                  .child = 100,
                  .jailed_pids = false,
                  .launched = true,
                  .table = rows(table)},
                 host);
}

std::vector<int> pids(const Targets& chosen) {
  std::vector<int> all;
  for (const ProcessRow& row : chosen.processes) all.push_back(row.pid);
  return all;
}

// cases.md 188
TEST(TargetsTest, EverythingBelowTheNamespacesFirstProcessIsAddressed) {
  ListingHost host;
  EXPECT_THAT(pids(targets_for({{100, 1}, {101, 100}, {103, 101}}, host)), ElementsAre(103));
  EXPECT_THAT(
      pids(targets_for({{104, 103}, {100, 1}, {7, 1}, {103, 101}, {101, 100}, {8, 7}}, host)),
      ElementsAre(103, 104));
  const Targets nested =
      targets_for({{105, 104}, {104, 103}, {103, 101}, {101, 100}, {100, 1}}, host);
  EXPECT_THAT(pids(nested), ElementsAre(103, 104, 105));
  EXPECT_FALSE(nested.whole_group);
  EXPECT_EQ(nested.processes.front().birth, 1030U);
}

// cases.md 189, 193
TEST(TargetsTest, WithoutACommandTheWholeGroupIsAddressed) {
  ListingHost host;
  EXPECT_TRUE(targets_for({}, host).whole_group);
  EXPECT_TRUE(targets_for({{100, 1}}, host).whole_group);
  const Targets init_only = targets_for({{100, 1}, {101, 100}}, host);
  EXPECT_TRUE(init_only.whole_group);
  EXPECT_TRUE(init_only.processes.empty());
}

// cases.md 190
TEST(TargetsTest, RowsThatGoInCirclesEnd) {
  ListingHost host;
  EXPECT_THAT(
      pids(targets_for({{100, 1}, {101, 100}, {101, 104}, {103, 101}, {104, 103}, {9, 9}}, host)),
      ElementsAre(103, 104));
}

// cases.md 191
TEST(TargetsTest, TableThatLostARootOfTheCommandIsDistrusted) {
  ListingHost host;
  host.lists = {{100, {101}}, {101, {103, 110}}};
  EXPECT_TRUE(targets_for({{100, 1}, {101, 100}, {110, 101}}, host).whole_group);

  host.lists = {{100, {101}}, {101, {103}}};
  EXPECT_THAT(pids(targets_for({{100, 1}, {101, 100}, {103, 101}, {104, 103}}, host)),
              ElementsAre(103, 104));

  host.lists = {{100, {101}}};
  EXPECT_THAT(pids(targets_for({{100, 1}, {101, 100}, {103, 101}}, host)), ElementsAre(103));
}

// guard 5.2: I6
TEST(TargetsTest, WithoutAPidNamespaceOnlyTheSupervisorIsSpared) {
  ListingHost host;
  const std::vector<std::pair<int, int>> table = {{100, 1}, {101, 100}, {103, 101}, {7, 1}};
  EXPECT_THAT(pids(targets_without_namespace(table, host)), ElementsAre(101, 103));
  EXPECT_THAT(pids(targets_for(table, host)), ElementsAre(103));
  EXPECT_TRUE(targets_without_namespace({{100, 1}, {7, 1}}, host).whole_group);

  host.lists = {{100, {101}}};
  EXPECT_THAT(pids(targets_without_namespace(table, host)), ElementsAre(101, 103));
  host.lists = {{100, {102}}};
  EXPECT_TRUE(targets_without_namespace(table, host).whole_group);
}

TEST(TargetsTest, FirmRungAndDegradedRunAddressTheWholeGroup) {
  ListingHost host;
  const std::vector<std::pair<int, int>> table = {{100, 1}, {101, 100}, {103, 101}};
  EXPECT_FALSE(targets_for(table, host).whole_group);
  EXPECT_TRUE(targets_for(table, host, Rung::kKill).whole_group);
  EXPECT_TRUE(targets_for(table, host, Rung::kSettle).whole_group);
  EXPECT_TRUE(targets_for(table, host, Rung::kTerm, false).whole_group);
}

TEST(BwrapBackendTest, StartSpawnsTheVeryLaunchOnce) {
  ListingHost host;
  BwrapBackend backend(host);
  LaunchSpec launch;
  launch.argv = {"bwrap"};
  EXPECT_TRUE(backend.start(launch).has_value());
  EXPECT_THAT(host.spawned, ElementsAre(launch));
}

}  // namespace
}  // namespace loom::bwrap::test
