#include "law/order.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "law_support.h"

namespace loom::law {
namespace {

constexpr FileIdentity kMoved{.device = 1, .inode = 5};

constexpr auto kEveryOperation = std::to_array<Operation>(
    {Operation::kRead, Operation::kList, Operation::kWrite, Operation::kCreate, Operation::kRemove,
     Operation::kRenameFrom, Operation::kRenameTo, Operation::kExecute, Operation::kMountReadOnly,
     Operation::kMountWritable});

std::vector<Exclusion> hide(std::string_view where, std::vector<FileIdentity> above = {}) {
  return exclude_both_kinds({.real = path(where), .above = std::move(above)}, {});
}

TEST(OrderTest, ReadingAndWritingTheNullDeviceComesBeforeEverything) {
  for (const Operation operation : kEveryOperation) {
    const bool plain = operation == Operation::kRead || operation == Operation::kWrite;
    const auto ruling = rule_on({.operation = operation,
                                 .written = "/dev/null",
                                 .landing = file("/dev/null"),
                                 .is_pin = true,
                                 .file_system = Reason::kNotAHostObject},
                                deny({}), hide("/dev"));
    EXPECT_EQ(ruling.step == Step::kNullDevice, plain);
    EXPECT_EQ(ruling.refusal == std::nullopt, plain);
  }
}

TEST(OrderTest, OnlyTheVeryPathIsTheNullDevice) {
  const auto ruling = rule_on({.operation = Operation::kWrite,
                               .written = "/dev//null",
                               .landing = file("/dev/null"),
                               .file_system = Reason::kNotAHostObject},
                              deny({}), {});

  EXPECT_EQ(ruling.refusal, Reason::kNotAHostObject);
}

TEST(OrderTest, APinIsNeitherWrittenNorRemovedNorRenamedAwayWhateverThePolicySays) {
  for (const Operation operation : kEveryOperation) {
    const bool harms = operation == Operation::kWrite || operation == Operation::kRemove ||
                       operation == Operation::kRenameFrom ||
                       operation == Operation::kMountWritable;
    const auto ruling = rule_on(
        {.operation = operation, .written = "/w/p", .landing = file("/w/p"), .is_pin = true},
        Table::no_opinion(), {});
    EXPECT_EQ(ruling.refusal, harms ? std::optional(Reason::kPinned) : std::nullopt);
  }
}

TEST(OrderTest, APinComesBeforeTheFileSystemAndTheFileSystemBeforeTheExecTable) {
  ResolvedRequest request{.operation = Operation::kWrite,
                          .written = "/w/p",
                          .landing = file("/w/p"),
                          .is_pin = true,
                          .file_system = Reason::kReadOnly};
  EXPECT_EQ(rule_on(request, deny({}), {}).refusal, Reason::kPinned);

  request.operation = Operation::kExecute;
  EXPECT_EQ(rule_on(request, deny({}), {}).refusal, Reason::kReadOnly);
  EXPECT_EQ(rule_on(request, deny({}), {}).step, Step::kFileSystem);

  request.file_system = std::nullopt;
  EXPECT_EQ(rule_on(request, deny({}), {}).refusal, Reason::kNotAllowed);
  EXPECT_EQ(rule_on(request, deny({}), {}).step, Step::kExec);
}

TEST(OrderTest, TheExecTableJudgesNothingButExecution) {
  for (const Operation operation : kEveryOperation) {
    const auto ruling =
        rule_on({.operation = operation, .written = "/x/t", .landing = file("/x/t")},
                deny({{"-dir /x"}}), {});
    const bool runs = operation == Operation::kExecute;
    EXPECT_EQ(ruling.refusal, runs ? std::optional(Reason::kExcluded) : std::nullopt);
    EXPECT_EQ(ruling.exec.has_value(), runs);
  }
}

TEST(OrderTest, ADirectoryAboveSomethingExcludedIsNeitherRenamedNorRemoved) {
  const Table asked = allow({{"-file /w/a/Tool"}});
  for (const Operation operation : kEveryOperation) {
    const bool moves = operation == Operation::kRemove || operation == Operation::kRenameFrom;
    const auto ruling =
        rule_on({.operation = operation, .written = "/W/a", .landing = inside("/W/a")}, asked, {});
    EXPECT_EQ(ruling.refusal == Reason::kWouldMoveExcluded, moves);
  }
}

TEST(OrderTest, WhatWouldBeMovedAlongIsNamed) {
  const auto move = [](std::string_view directory, const Table& exec,
                       const std::vector<Exclusion>& hidden, Passage passage = {}) {
    return rule_on({.operation = Operation::kRenameFrom,
                    .written = directory,
                    .landing = inside(directory, std::move(passage))},
                   exec, hidden);
  };

  const auto by_table = move("/w", allow({{"-dir /w/a/b"}}), {});
  EXPECT_EQ(written(by_table.beneath), "dir /w/a/b");
  EXPECT_FALSE(by_table.beneath_is_protected);
  const auto by_protection = move("/w", allow({{"-dir /w/a/b"}}), hide("/W/.git"));
  EXPECT_EQ(by_protection.beneath->real, path("/W/.git"));
  EXPECT_TRUE(by_protection.beneath_is_protected);
  // By identity: the directory has another name here.
  EXPECT_EQ(move("/alias", allow({}), hide("/w/a/key", {kMoved}), {.directory = kMoved}).refusal,
            Reason::kWouldMoveExcluded);
  // The excluded thing itself is the file system's or nobody's business here, and names move
  // freely.
  EXPECT_EQ(move("/w/a/b", allow({{"-dir /w/a/b"}}), {}).refusal, std::nullopt);
  EXPECT_EQ(move("/w", allow({{"-name sh"}}), {}).refusal, std::nullopt);
  EXPECT_EQ(move("/w2", allow({{"-dir /w/a"}}), {}).refusal, std::nullopt);
}

TEST(OrderTest, AFileHasNothingBeneath) {
  const auto ruling =
      rule_on({.operation = Operation::kRenameFrom, .written = "/w", .landing = file("/w")},
              allow({{"-dir /w/a"}}), {});

  EXPECT_EQ(ruling.refusal, std::nullopt);
}

}  // namespace
}  // namespace loom::law
