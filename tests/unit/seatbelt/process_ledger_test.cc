#include "backends/seatbelt/process_ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <utility>
#include <vector>

#include "counted_allocations.h"

namespace loom::seatbelt {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::int32_t kChild = 100;
constexpr std::uint64_t kChildBirth = 1;
const ProcessRow kChildRow{.pid = kChild, .parent = 50, .birth = kChildBirth};

// A process table: the helper and its child, and `rows`.
std::vector<ProcessRow> with(std::vector<ProcessRow> rows) {
  rows.insert(
      rows.begin(),
      {{.pid = 1, .parent = 0, .birth = 0}, {.pid = 50, .parent = 1, .birth = 0}, kChildRow});
  return rows;
}

TargetsRequest snapshot(std::vector<ProcessRow> table, Rung rung = Rung::kTerm) {
  return {.rung = rung, .child = kChild, .table = std::move(table)};
}

std::vector<std::int32_t> pids(std::span<const ProcessRow> rows) {
  std::vector<std::int32_t> pids;
  for (const ProcessRow& row : rows) pids.push_back(row.pid);
  return pids;
}

// Whom the ledger would signal now, without learning anything new.
std::vector<std::int32_t> remembered(ProcessLedger& ledger) {
  return pids(ledger.targets(snapshot({})).processes);
}

TEST(ProcessLedger, FindsDescendantsOfEveryDegreeAndNobodyElse) {
  ProcessLedger ledger;
  ledger.observe(snapshot(with({{.pid = 200, .parent = kChild, .birth = 2},
                                {.pid = 201, .parent = 200, .birth = 3},
                                {.pid = 202, .parent = 201, .birth = 4},
                                {.pid = 300, .parent = 50, .birth = 5},
                                {.pid = 301, .parent = 300, .birth = 6}})));
  EXPECT_THAT(remembered(ledger), ElementsAre(200, 201, 202));
}

TEST(ProcessLedger, NamesTheGroupAndItsRowsSortedByPid) {
  ProcessLedger ledger;
  const std::vector<ProcessRow> table =
      with({{.pid = 400, .parent = kChild, .birth = 2}, {.pid = 200, .parent = 400, .birth = 3}});
  for (const Rung rung : {Rung::kTerm, Rung::kKill, Rung::kSettle}) {
    const Targets targets = ledger.targets(snapshot(table, rung));
    EXPECT_TRUE(targets.whole_group);
    EXPECT_THAT(targets.processes,
                ElementsAre(ProcessRow{200, 400, 3}, ProcessRow{400, kChild, 2}));
  }
}

TEST(ProcessLedger, WalksBreadthFirstInTheOrderOfTheTable) {
  ProcessLedger ledger;
  ledger.observe(snapshot(with({{.pid = 230, .parent = 210, .birth = 2},
                                {.pid = 220, .parent = kChild, .birth = 3},
                                {.pid = 240, .parent = 220, .birth = 4},
                                {.pid = 210, .parent = kChild, .birth = 5}})));
  EXPECT_THAT(pids(ledger.seen()), ElementsAre(220, 210, 240, 230));
}

TEST(ProcessLedger, RemembersWhatWasReparented) {
  ProcessLedger ledger;
  ledger.observe(snapshot(
      with({{.pid = 200, .parent = kChild, .birth = 2}, {.pid = 201, .parent = 200, .birth = 3}})));
  ledger.observe(snapshot(with({{.pid = 201, .parent = 1, .birth = 3}})));
  ledger.observe(snapshot(with({{.pid = 201, .parent = 1, .birth = 3}})));
  EXPECT_THAT(remembered(ledger), ElementsAre(201));
}

TEST(ProcessLedger, FollowsWhatAReparentedProcessForks) {
  ProcessLedger ledger;
  ledger.observe(snapshot(
      with({{.pid = 200, .parent = kChild, .birth = 2}, {.pid = 201, .parent = 200, .birth = 3}})));
  ledger.observe(snapshot(with({{.pid = 201, .parent = 1, .birth = 3},
                                {.pid = 250, .parent = 201, .birth = 9},
                                {.pid = 251, .parent = 250, .birth = 10}})));
  EXPECT_THAT(pids(ledger.seen()), ElementsAre(201, 250, 251));
}

// cases.md 220: nobody becomes a descendant by a parent link of an older table.
TEST(ProcessLedger, AShrinkingTableLeavesNoEdge) {
  ProcessLedger ledger;
  std::vector<ProcessRow> large = with({{.pid = 200, .parent = kChild, .birth = 2}});
  for (std::int32_t pid = 300; pid < 400; ++pid) {
    large.push_back({.pid = pid, .parent = 200, .birth = 7});
  }
  ledger.observe(snapshot(large));
  ASSERT_THAT(ledger.seen(), SizeIs(101));
  // The same numbers, of other processes and elsewhere.
  std::vector<ProcessRow> small = with({});
  for (std::int32_t pid = 300; pid < 340; ++pid) {
    small.push_back({.pid = pid, .parent = 50, .birth = 8});
  }
  ledger.observe(snapshot(small));
  EXPECT_THAT(ledger.seen(), IsEmpty());
  ledger.observe(snapshot(small));
  EXPECT_THAT(remembered(ledger), IsEmpty());
}

// cases.md 220
TEST(ProcessLedger, TheOrderOfTheTableChangesNothing) {
  std::vector<ProcessRow> table = {kChildRow,
                                   {.pid = 200, .parent = kChild, .birth = 2},
                                   {.pid = 201, .parent = 200, .birth = 3},
                                   {.pid = 202, .parent = 200, .birth = 4},
                                   {.pid = 203, .parent = 202, .birth = 5},
                                   {.pid = 300, .parent = 50, .birth = 6}};
  ProcessLedger ledger;
  const auto by_pid = [](const ProcessRow& a, const ProcessRow& b) { return a.pid < b.pid; };
  do {
    ledger.observe(snapshot(table));
    ASSERT_THAT(remembered(ledger), ElementsAre(200, 201, 202, 203));
    ProcessLedger fresh;
    fresh.observe(snapshot(table));
    ASSERT_THAT(remembered(fresh), ElementsAre(200, 201, 202, 203));
  } while (std::next_permutation(table.begin(), table.end(), by_pid));
}

TEST(ProcessLedger, EndsOnLoopsAndOnOneThatIsItsOwnParent) {
  ProcessLedger ledger;
  ledger.observe(snapshot(with({{.pid = 200, .parent = kChild, .birth = 2},
                                {.pid = 201, .parent = 200, .birth = 3},
                                {.pid = 200, .parent = 201, .birth = 2},
                                {.pid = 300, .parent = 300, .birth = 4},
                                {.pid = 301, .parent = 302, .birth = 5},
                                {.pid = 302, .parent = 301, .birth = 6}})));
  EXPECT_THAT(remembered(ledger), IsEmpty());  // the newer row of 200 hangs below 201 only
  std::vector<ProcessRow> loop = {{.pid = kChild, .parent = 201, .birth = kChildBirth},
                                  {.pid = 200, .parent = kChild, .birth = 2},
                                  {.pid = 201, .parent = 200, .birth = 3}};
  ledger.observe(snapshot(loop));
  EXPECT_THAT(remembered(ledger), ElementsAre(200, 201));  // and not the child
}

TEST(ProcessLedger, NeverTakesTheKernelOrTheAdopterForADescendant) {
  ProcessLedger ledger;
  ledger.observe(snapshot({{.pid = 0, .parent = kChild, .birth = 1},
                           {.pid = 1, .parent = kChild, .birth = 1},
                           kChildRow,
                           {.pid = 300, .parent = 1, .birth = 4}}));
  EXPECT_THAT(remembered(ledger), IsEmpty());
}

// A debugger becomes the parent of what it traces.
TEST(ProcessLedger, WhoeverWasThereBeforeTheChildIsNoDescendantThoughOneTracesIt) {
  ProcessLedger ledger;
  const std::uint64_t birth = 700;
  std::vector<ProcessRow> table = {{.pid = kChild, .parent = 50, .birth = birth},
                                   {.pid = 200, .parent = kChild, .birth = birth},
                                   {.pid = 300, .parent = 200, .birth = birth - 1},
                                   {.pid = 301, .parent = 300, .birth = birth + 1},
                                   {.pid = 201, .parent = 200, .birth = birth + 1}};
  EXPECT_THAT(pids(ledger.targets(snapshot(table, Rung::kKill)).processes), ElementsAre(200, 201));
  // Nor once its tracer has lost its own parent.
  table[1].parent = 1;
  EXPECT_THAT(pids(ledger.targets(snapshot(table, Rung::kKill)).processes), ElementsAre(200, 201));
}

TEST(ProcessLedger, ATableWithoutTheChildTeachesNothingNew) {
  ProcessLedger ledger;
  ledger.observe(snapshot({{.pid = 200, .parent = kChild, .birth = 2}}));
  EXPECT_THAT(remembered(ledger), IsEmpty());
  ledger.observe(snapshot(with({{.pid = 200, .parent = kChild, .birth = 2}})));
  EXPECT_THAT(remembered(ledger), ElementsAre(200));
}

TEST(ProcessLedger, AChildOfAnotherBirthIsAStranger) {
  ProcessLedger ledger;
  ledger.observe(snapshot(with({})));
  ledger.observe(snapshot({{.pid = kChild, .parent = 1, .birth = kChildBirth + 1},
                           {.pid = 200, .parent = kChild, .birth = 2}}));
  EXPECT_THAT(remembered(ledger), IsEmpty());
}

// By then the child has been reaped, and its number may be anybody's.
TEST(ProcessLedger, MeetsNoChildWhileSettling) {
  const std::vector<ProcessRow> table = with({{.pid = 200, .parent = kChild, .birth = 2}});
  ProcessLedger late;
  EXPECT_THAT(late.targets(snapshot(table, Rung::kSettle)).processes, IsEmpty());
  ProcessLedger early;
  early.observe(snapshot(table));
  EXPECT_THAT(early.targets(snapshot(table, Rung::kSettle)).processes, SizeIs(1));
}

// cases.md 220
TEST(ProcessLedger, APidOfAnotherBirthIsNotSignalled) {
  ProcessLedger ledger;
  ledger.observe(snapshot(with(
      {{.pid = 200, .parent = kChild, .birth = 2}, {.pid = 201, .parent = kChild, .birth = 3}})));
  const Targets targets = ledger.targets(snapshot(
      with({{.pid = 200, .parent = 50, .birth = 9}, {.pid = 201, .parent = kChild, .birth = 3}})));
  EXPECT_THAT(pids(targets.processes), ElementsAre(201));
}

// cases.md 220
TEST(ProcessLedger, AReusedPidThatIsADescendantAgainIsSignalledWithItsNewBirth) {
  ProcessLedger ledger;
  ledger.observe(snapshot(with(
      {{.pid = 200, .parent = kChild, .birth = 2}, {.pid = 201, .parent = kChild, .birth = 3}})));
  const Targets targets = ledger.targets(snapshot(
      with({{.pid = 200, .parent = 201, .birth = 9}, {.pid = 201, .parent = kChild, .birth = 3}})));
  EXPECT_THAT(targets.processes, ElementsAre(ProcessRow{200, 201, 9}, ProcessRow{201, kChild, 3}));
}

TEST(ProcessLedger, ANumberThatStandsTwiceInATableIsItsLaterRow) {
  ProcessLedger ledger;
  ledger.observe(snapshot(with({{.pid = 200, .parent = kChild, .birth = 2},
                                {.pid = 200, .parent = 50, .birth = 9},
                                {.pid = 201, .parent = 50, .birth = 2},
                                {.pid = 201, .parent = kChild, .birth = 9}})));
  EXPECT_THAT(ledger.targets(snapshot({})).processes, ElementsAre(ProcessRow{201, kChild, 9}));
}

TEST(ProcessLedger, OneTableMayMissAProcessAndTwoMayNot) {
  ProcessLedger ledger;
  ledger.observe(snapshot(with({{.pid = 200, .parent = kChild, .birth = 2}})));
  ledger.observe(snapshot(with({})));
  EXPECT_THAT(remembered(ledger), ElementsAre(200));
  ledger.observe(snapshot(with({{.pid = 200, .parent = 1, .birth = 2}})));
  ledger.observe(snapshot(with({})));
  EXPECT_THAT(remembered(ledger), ElementsAre(200));
  ledger.observe(snapshot(with({})));
  EXPECT_THAT(remembered(ledger), IsEmpty());
}

TEST(ProcessLedger, ATableThatCouldNotBeReadCountsAsNone) {
  ProcessLedger ledger;
  ledger.observe(snapshot(with({{.pid = 200, .parent = kChild, .birth = 2}})));
  for (int i = 0; i < 3; ++i) ledger.observe(snapshot({}));
  EXPECT_THAT(remembered(ledger), ElementsAre(200));
}

TEST(ProcessLedger, AnotherChildIsAnotherRun) {
  ProcessLedger ledger;
  ledger.observe(snapshot(with({{.pid = 200, .parent = kChild, .birth = 2}})));
  const Targets targets =
      ledger.targets({.rung = Rung::kTerm,
                      .child = 300,
                      .table = with({{.pid = 200, .parent = kChild, .birth = 2},
                                     {.pid = 300, .parent = 50, .birth = 3},
                                     {.pid = 301, .parent = 300, .birth = 4}})});
  EXPECT_THAT(pids(targets.processes), ElementsAre(301));
  ledger.observe(snapshot(with({{.pid = 200, .parent = kChild, .birth = 2}})));
  ledger.forget();
  EXPECT_THAT(remembered(ledger), IsEmpty());
}

TEST(ProcessLedger, WithoutAChildThereIsNobody) {
  ProcessLedger ledger;
  for (const std::int32_t child : {-1, 0, 1}) {
    const Targets targets =
        ledger.targets({.rung = Rung::kKill,
                        .child = child,
                        .table = with({{.pid = 9, .parent = child, .birth = 2}})});
    EXPECT_THAT(targets.processes, IsEmpty());
  }
}

// A tree of `size` processes below the child: three to each parent, in an order without order.
std::vector<ProcessRow> forest(std::int32_t size) {
  std::vector<ProcessRow> rows;
  for (std::int32_t i = 0; i < size; ++i) {
    const std::int32_t parent = i < 3 ? kChild : 1'000 + i / 3 - 1;
    rows.push_back({.pid = 1'000 + i, .parent = parent, .birth = 7});
  }
  for (std::size_t i = 0; i < rows.size(); ++i) std::swap(rows[i], rows[i * 7'919 % rows.size()]);
  return with(rows);
}

// cases.md 220
TEST(ProcessLedger, ASteadyRunAllocatesNothing) {
  ProcessLedger ledger;
  const TargetsRequest large = snapshot(forest(2'000));
  TargetsRequest small = snapshot(forest(200));
  ledger.observe(large);
  ASSERT_THAT(ledger.seen(), SizeIs(2'000));
  allocations = 0;
  for (int i = 0; i < 3; ++i) {
    ledger.observe(large);
    ledger.observe(small);
    std::reverse(small.table.begin(), small.table.end());
  }
  const std::size_t counted = allocations;
  EXPECT_EQ(counted, 0U);
  allocations = 0;
  const auto positive_control = std::make_unique<int>(1);
  EXPECT_EQ(allocations, 1U);
}

// Of the processor, so that a busy machine does not matter.
std::clock_t time_of(const TargetsRequest& request) {
  ProcessLedger ledger;
  ledger.observe(request);
  const std::clock_t start = std::clock();
  ledger.observe(request);
  return std::clock() - start;
}

// Ten times the rows may take some fifteen times as long, and would take a hundred times if each
// process cost a look at all others. A chain is the deepest tree there is, a star the widest.
TEST(ProcessLedger, TakesNearlyLinearTime) {
  static constexpr std::int32_t kRows = 100'000;
  std::vector<ProcessRow> chain;
  std::vector<ProcessRow> star;
  for (std::int32_t i = 0; i < kRows; ++i) {
    chain.push_back({.pid = 1'000 + i, .parent = i == 0 ? kChild : 999 + i, .birth = 7});
    star.push_back({.pid = 1'000 + i, .parent = kChild, .birth = 7});
  }
  const std::clock_t tenth = time_of(snapshot(forest(kRows / 10)));
  for (const std::vector<ProcessRow>& rows : {with(chain), with(star), forest(kRows)}) {
    EXPECT_LT(time_of(snapshot(rows)), 50 * tenth);
  }
  ProcessLedger ledger;
  ledger.observe(snapshot(with(chain)));
  EXPECT_THAT(ledger.seen(), SizeIs(kRows));
}

// A fork bomb, seen by many tables: no more records than the ceiling, and those nearest the child.
TEST(ProcessLedger, RemembersNoMoreThanItsCeiling) {
  static constexpr auto kMax = static_cast<std::int32_t>(ProcessLedger::kMaxRecords);
  ProcessLedger ledger;
  std::vector<ProcessRow> rows;
  for (std::int32_t i = 0; i < kMax + 10; ++i) {
    rows.push_back({.pid = 10'000'000 - i, .parent = 999, .birth = 7});
  }
  rows.push_back({.pid = 999, .parent = kChild, .birth = 7});
  ledger.observe(snapshot(with(rows)));
  const Targets targets = ledger.targets(snapshot({}));
  ASSERT_THAT(targets.processes, SizeIs(kMax));
  EXPECT_EQ(targets.processes.front().pid, 999);
  EXPECT_EQ(targets.processes.back().pid, 10'000'000);
}

}  // namespace
}  // namespace loom::seatbelt
