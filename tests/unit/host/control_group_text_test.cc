#include "host/control_group_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace loom::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;

ControlFileText required(const std::string& file, const std::string& text) {
  return ControlFileText{.file = file, .text = text};
}

const ControlFileText kNoSwap{.file = "memory.swap.max", .text = "0", .required = false};

// cases.md 140
TEST(CeilingTextsTest, MemoryComesBeforeProcessesAndTakesSwapAlong) {
  EXPECT_THAT(
      ceiling_texts({.memory_bytes = 1u << 30, .pids = 256}),
      ElementsAre(required("memory.max", "1073741824"), kNoSwap, required("pids.max", "256")));
}

// cases.md 140
TEST(CeilingTextsTest, WhatWasNotAskedForIsNotWritten) {
  EXPECT_THAT(ceiling_texts({.memory_bytes = 4'096}),
              ElementsAre(required("memory.max", "4096"), kNoSwap));
  EXPECT_THAT(ceiling_texts({.pids = 1}), ElementsAre(required("pids.max", "1")));
  EXPECT_THAT(ceiling_texts({}), IsEmpty());
}

TEST(CeilingTextsTest, ACeilingTheKernelCannotHoldIsTheHighestItHas) {
  constexpr auto kMostBytes = static_cast<std::uint64_t>(INT64_MAX);
  EXPECT_THAT(ceiling_texts({.memory_bytes = kMostBytes, .pids = kMostProcesses}),
              ElementsAre(required("memory.max", "9223372036854775807"), kNoSwap,
                          required("pids.max", "4194304")));
  EXPECT_THAT(ceiling_texts({.memory_bytes = kMostBytes + 1, .pids = kMostProcesses + 1}),
              ElementsAre(required("memory.max", "max"), kNoSwap, required("pids.max", "max")));
  EXPECT_THAT(ceiling_texts({.memory_bytes = UINT64_MAX, .pids = UINT64_MAX}),
              ElementsAre(required("memory.max", "max"), kNoSwap, required("pids.max", "max")));
}

// cases.md 141
TEST(OwnControlGroupTest, TheLineOfTheSecondVersionCountsAndTheRootIsPresentThoughEmpty) {
  EXPECT_THAT(own_control_group("0::/user.slice/x\n"), Optional(std::string("/user.slice/x")));
  EXPECT_THAT(own_control_group("12:pids:/a\n1:name=systemd:/b\n0::/c d\n"),
              Optional(std::string("/c d")));
  EXPECT_THAT(own_control_group("0::/"), Optional(std::string()));
  EXPECT_THAT(own_control_group("0::/\n"), Optional(std::string()));
}

// cases.md 141
TEST(OwnControlGroupTest, WithoutThatLineThereIsNone) {
  for (const char* text : {"", "\n", "4:memory:/a\n10::/b\n", "0:\n", "0::\n", "x0::/a\n"}) {
    EXPECT_EQ(own_control_group(text), std::nullopt) << text;
  }
}

// cases.md 150
TEST(MissingControllersTest, NamesWhatCeilingsNeedAndTheListLacks) {
  EXPECT_THAT(missing_controllers("memory pids"), IsEmpty());
  EXPECT_THAT(missing_controllers("+memory +pids"), IsEmpty());
  EXPECT_THAT(missing_controllers("cpuset cpu\tio memory hugetlb pids rdma\n"), IsEmpty());
  EXPECT_THAT(missing_controllers("memory"), ElementsAre("pids"));
  EXPECT_THAT(missing_controllers("pids\n"), ElementsAre("memory"));
  EXPECT_THAT(missing_controllers("cpu io"), ElementsAre("memory", "pids"));
  EXPECT_THAT(missing_controllers(""), ElementsAre("memory", "pids"));
}

TEST(MissingControllersTest, ALongerNameIsAnotherController) {
  EXPECT_THAT(missing_controllers("memory2 xpids -pids ++memory"), ElementsAre("memory", "pids"));
}

// cases.md 151
TEST(CommonAncestorTest, IsTheDeepestDirectoryAboveBothOrOneOfThem) {
  EXPECT_EQ(common_ancestor("/a/b", "/a/c"), "/a");
  EXPECT_EQ(common_ancestor("/x", "/x/e"), "/x");
  EXPECT_EQ(common_ancestor("/x/e", "/x"), "/x");
  EXPECT_EQ(common_ancestor("/a", "/b"), "/");
  EXPECT_EQ(common_ancestor("/a/b/c", "/a/b/c"), "/a/b/c");
  EXPECT_EQ(common_ancestor("/", "/a"), "/");
}

TEST(CommonAncestorTest, ComponentsAreWhole) {
  EXPECT_EQ(common_ancestor("/a/run", "/a/runs"), "/a");
  EXPECT_EQ(common_ancestor("/a/run/x", "/a/runs/x"), "/a");
}

TEST(GroupNameTest, OnlyAGroupOfARunNamesItsProcess) {
  EXPECT_THAT(process_of_group_name("exec-8-4194305"), Optional(4'194'305));
  EXPECT_THAT(process_of_group_name("exec-18446744073709551616-1"), Optional(1));
  // cases.md 154
  for (const char* name :
       {"loom-exec-probe-1", "exec-8", "exec-8-", "exec--8", "exec-8-9-10", "other", "exec",
        "exec-8-x", "exec-x-8", "exec-8-+9", "exec-8--9", "exec-8-9 ", " exec-8-9", "Exec-8-9", "",
        "exec-8-0", "exec-8-99999999999", "xexec-1-2", "exec-1-2.mount"}) {
    EXPECT_EQ(process_of_group_name(name), std::nullopt) << name;
  }
}

TEST(KeyedNumberTest, FindsTheLineOfTheWholeKey) {
  constexpr const char* kEvents = "low 0\noom 1\noom_kill 23\noom_group_kill 4\n";
  EXPECT_THAT(keyed_number(kEvents, "oom"), Optional(1u));
  EXPECT_THAT(keyed_number(kEvents, "oom_kill"), Optional(23u));
  EXPECT_THAT(keyed_number("max 18446744073709551615", "max"), Optional(UINT64_MAX));
  EXPECT_EQ(keyed_number(kEvents, "kill"), std::nullopt);
  EXPECT_EQ(keyed_number("max\n", "max"), std::nullopt);
  EXPECT_EQ(keyed_number("max 1x\n", "max"), std::nullopt);
  EXPECT_EQ(keyed_number("max -1\n", "max"), std::nullopt);
  EXPECT_EQ(keyed_number("max 18446744073709551616\n", "max"), std::nullopt);
  EXPECT_EQ(keyed_number("", "max"), std::nullopt);
}

TEST(SingleNumberTest, NoLimitIsNoNumber) {
  EXPECT_THAT(single_number("4096\n"), Optional(4'096u));
  EXPECT_EQ(single_number("max\n"), std::nullopt);
  EXPECT_EQ(single_number("1 2\n"), std::nullopt);
  EXPECT_EQ(single_number(""), std::nullopt);
}

TEST(ProcessListTest, CountsLinesAndFindsWholeNumbers) {
  constexpr const char* kProcs = "0\n17\n4\n1234\n";
  EXPECT_EQ(count_processes(kProcs), 4u);
  EXPECT_EQ(count_processes(""), 0u);
  EXPECT_EQ(count_processes("17"), 1u);
  EXPECT_TRUE(lists_process(kProcs, 17));
  EXPECT_TRUE(lists_process(kProcs, 1234));
  EXPECT_FALSE(lists_process(kProcs, 1));
  EXPECT_FALSE(lists_process(kProcs, 123));
  EXPECT_FALSE(lists_process("", 17));
}

TEST(KillsAtOwnCeilingTest, AKillThatTheWholeMachineWasShortForIsNotTheCeilings) {
  EXPECT_THAT(kills_at_own_ceiling("max 9\noom 1\noom_kill 2\n"), Optional(2u));
  EXPECT_THAT(kills_at_own_ceiling("max 0\noom 0\noom_kill 2\n"), Optional(0u));
  EXPECT_THAT(kills_at_own_ceiling("max 0\noom 0\noom_kill 0\n"), Optional(0u));
  EXPECT_EQ(kills_at_own_ceiling("max 0\noom 5\n"), std::nullopt);
  EXPECT_EQ(kills_at_own_ceiling(""), std::nullopt);
}

}  // namespace
}  // namespace loom::host
