#include "report/describe_outcome.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <system_error>

namespace loom {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr int kAbsent = static_cast<int>(std::errc::no_such_file_or_directory);
constexpr int kForbidden = static_cast<int>(std::errc::permission_denied);

// A command that ran under an inner stage and ended with this status.
OutcomeFacts ran(int code) {
  OutcomeFacts facts;
  facts.code = code;
  facts.had_stage2 = true;
  facts.committed = true;
  facts.running = true;
  facts.command_signal = 0;
  return facts;
}

OutcomeFacts ran_into(int signal) {
  OutcomeFacts facts = ran(128 + signal);
  facts.command_signal = signal;
  return facts;
}

OutcomeFacts gave_up(Stage2Step step, int error, std::string detail) {
  OutcomeFacts facts = ran(126);
  facts.running = false;
  facts.command_signal = std::nullopt;
  facts.failure = ControlMessage{
      .kind = ControlKind::kFailed, .step = step, .error = error, .detail = std::move(detail)};
  return facts;
}

void expect_outcome(const OutcomeFacts& facts, OutcomeClass outcome, int status,
                    std::string_view words) {
  const Outcome described = describe_outcome(facts);
  EXPECT_EQ(described.outcome, outcome) << outcome_class_name(described.outcome);
  EXPECT_EQ(described.shell_status, status);
  EXPECT_THAT(described.detail, HasSubstr(words));
}

TEST(DescribeOutcomeTest, EveryClassHasItsName) {
  EXPECT_EQ(outcome_class_name(OutcomeClass::kExited), "exited");
  EXPECT_EQ(outcome_class_name(OutcomeClass::kSignalled), "signalled");
  EXPECT_EQ(outcome_class_name(OutcomeClass::kSetup), "setup");
  EXPECT_EQ(outcome_class_name(OutcomeClass::kExec), "exec");
  EXPECT_EQ(outcome_class_name(OutcomeClass::kLimit), "limit");
  EXPECT_EQ(outcome_class_name(OutcomeClass::kTimeout), "timeout");
  EXPECT_EQ(outcome_class_name(OutcomeClass::kCancelled), "cancelled");
}

TEST(DescribeOutcomeTest, AnExitStatusIsThatStatus) {
  expect_outcome(ran(0), OutcomeClass::kExited, 0, "exit 0");
  expect_outcome(ran(42), OutcomeClass::kExited, 42, "exit 42");
  expect_outcome(ran(126), OutcomeClass::kExited, 126, "exit 126");
}

// cases.md 187
TEST(DescribeOutcomeTest, AHighStatusTheKernelVouchesForIsNoSignal) {
  expect_outcome(ran(143), OutcomeClass::kExited, 143, "exit 143");
  EXPECT_THAT(describe_outcome(ran(143)).detail, Not(HasSubstr("signal")));
}

TEST(DescribeOutcomeTest, WhereTheKernelDidNotSayBothReadingsAreGiven) {
  OutcomeFacts facts = ran(137);
  facts.command_signal = std::nullopt;

  expect_outcome(facts, OutcomeClass::kExited, 137, "exit 137, or signal 9 (SIGKILL)");
}

TEST(DescribeOutcomeTest, AStatusThatCanBeNoSignalIsOnlyAStatus) {
  for (const int code : {1, 128, 193, 255}) {
    OutcomeFacts facts = ran(code);
    facts.command_signal = std::nullopt;
    EXPECT_EQ(describe_outcome(facts).detail, "exit " + std::to_string(code));
  }
}

TEST(DescribeOutcomeTest, ASignalIsNamed) {
  expect_outcome(ran_into(SIGSEGV), OutcomeClass::kSignalled, 128 + SIGSEGV, "killed by SIGSEGV");
  expect_outcome(ran_into(SIGKILL), OutcomeClass::kSignalled, 137, "killed by SIGKILL");
  expect_outcome(ran_into(63), OutcomeClass::kSignalled, 191, "killed by signal 63");
}

TEST(DescribeOutcomeTest, WithoutAnInnerStageTheWaitedProcessIsTheCommand) {
  OutcomeFacts facts;
  facts.code = 139;
  facts.signal = SIGSEGV;
  expect_outcome(facts, OutcomeClass::kSignalled, 139, "killed by SIGSEGV");

  facts.code = 139;
  facts.signal = 0;
  expect_outcome(facts, OutcomeClass::kExited, 139, "exit 139");
}

TEST(DescribeOutcomeTest, ACeilingOfTheCommandIsALimitByName) {
  OutcomeFacts cpu = ran_into(SIGXCPU);
  OutcomeFacts file = ran_into(SIGXFSZ);
  cpu.cpu_limited = true;
  file.file_limited = true;

  expect_outcome(cpu, OutcomeClass::kLimit, 128 + SIGXCPU, "cpu_s");
  expect_outcome(file, OutcomeClass::kLimit, 128 + SIGXFSZ, "fsize_bytes");
}

TEST(DescribeOutcomeTest, ACeilingThatNobodySetIsNotBlamed) {
  expect_outcome(ran_into(SIGXCPU), OutcomeClass::kSignalled, 128 + SIGXCPU, "SIGXCPU");
  expect_outcome(ran_into(SIGXFSZ), OutcomeClass::kSignalled, 128 + SIGXFSZ, "SIGXFSZ");
}

TEST(DescribeOutcomeTest, AnEndThatNobodySawIsNoExit) {
  OutcomeFacts facts = ran_into(0);
  facts.code = 127;
  facts.lost_end = true;

  expect_outcome(facts, OutcomeClass::kSetup, 125, "could not be learned");
}

TEST(DescribeOutcomeTest, AJailThatWasNotSetUpIs125) {
  OutcomeFacts facts;
  facts.code = 1;
  facts.had_stage2 = true;

  expect_outcome(facts, OutcomeClass::kSetup, 125, "the jail was not set up");
}

TEST(DescribeOutcomeTest, ARefusedDemandIs125AndNamesTheLayers) {
  OutcomeFacts facts;
  facts.code = 126;
  facts.had_stage2 = true;
  facts.refused_demand = "bwrap, mounts";

  expect_outcome(facts, OutcomeClass::kSetup, 125, "bwrap, mounts");
}

TEST(DescribeOutcomeTest, WhatStage2RefusesIs126AndSetup) {
  for (const Stage2Step step :
       {Stage2Step::kDocument, Stage2Step::kView, Stage2Step::kLimits, Stage2Step::kSession,
        Stage2Step::kNoNewPrivs, Stage2Step::kCapabilities, Stage2Step::kLandlock,
        Stage2Step::kFilter, Stage2Step::kReport, Stage2Step::kCommit}) {
    SCOPED_TRACE(stage2_step_name(step));
    expect_outcome(gave_up(step, kForbidden, "the thing"), OutcomeClass::kSetup, 126, "the thing");
    expect_outcome(gave_up(step, kForbidden, ""), OutcomeClass::kSetup, 126,
                   stage2_step_name(step));
  }
}

TEST(DescribeOutcomeTest, AMissingDirectoryIsSetupAndNamesIt) {
  expect_outcome(gave_up(Stage2Step::kDirectory, kAbsent, "/x"), OutcomeClass::kSetup, 126,
                 "cwd /x: No such file or directory");
}

// cases.md 109
TEST(DescribeOutcomeTest, AProgramThatIsNotThereIs127) {
  expect_outcome(gave_up(Stage2Step::kLookup, kAbsent, "maek"), OutcomeClass::kExec, 127,
                 "maek: not found");
  expect_outcome(gave_up(Stage2Step::kLookup, 0, "maek"), OutcomeClass::kExec, 127,
                 "maek: not found");
}

TEST(DescribeOutcomeTest, AProgramThatMayNotRunIs126) {
  expect_outcome(gave_up(Stage2Step::kLookup, kForbidden, "tool"), OutcomeClass::kExec, 126,
                 "tool: ");
  expect_outcome(gave_up(Stage2Step::kExecute, kForbidden, "/w/tool"), OutcomeClass::kExec, 126,
                 "/w/tool: Permission denied");
}

TEST(DescribeOutcomeTest, AMissingInterpreterIsNotAMissingProgram) {
  const Outcome outcome = describe_outcome(gave_up(Stage2Step::kExecute, kAbsent, "/bin/sh"));

  EXPECT_EQ(outcome.outcome, OutcomeClass::kExec);
  EXPECT_EQ(outcome.shell_status, 126);
  EXPECT_THAT(outcome.detail, AllOf(HasSubstr("/bin/sh"), HasSubstr("interpreter or loader")));
}

TEST(DescribeOutcomeTest, TheHostsOwnExecTellsMissingFromForbidden) {
  OutcomeFacts facts;
  facts.host_exec_error = kAbsent;
  expect_outcome(facts, OutcomeClass::kExec, 127, "No such file");
  facts.host_exec_error = kForbidden;
  expect_outcome(facts, OutcomeClass::kExec, 126, "Permission denied");
  facts.had_stage2 = true;
  expect_outcome(facts, OutcomeClass::kSetup, 125, "could not be started");
}

TEST(DescribeOutcomeTest, AStage2ThatVanishesBeforeTheCommandIsSetup) {
  OutcomeFacts facts = ran(137);
  facts.running = false;
  facts.command_signal = std::nullopt;

  expect_outcome(facts, OutcomeClass::kSetup, 126, "before the command ran");
}

TEST(DescribeOutcomeTest, AStopWinsOverHowTheCommandEnded) {
  OutcomeFacts cancelled = ran_into(SIGTERM);
  cancelled.cancelled = true;
  expect_outcome(cancelled, OutcomeClass::kCancelled, 143, "killed by SIGTERM");

  OutcomeFacts expired = ran(7);
  expired.cancelled = true;
  expired.timed_out = true;
  expect_outcome(expired, OutcomeClass::kTimeout, 7, "wall_s");
}

TEST(DescribeOutcomeTest, ASetupFailureWinsOverALaterStop) {
  OutcomeFacts facts = gave_up(Stage2Step::kDirectory, kAbsent, "/x");
  facts.cancelled = true;

  expect_outcome(facts, OutcomeClass::kSetup, 126, "cwd /x");
}

TEST(DescribeOutcomeTest, AStopBeforeTheCommitIsAStop) {
  OutcomeFacts facts;
  facts.code = 137;
  facts.signal = SIGKILL;
  facts.had_stage2 = true;
  facts.cancelled = true;

  expect_outcome(facts, OutcomeClass::kCancelled, 137, "stopped on request");
}

TEST(DescribeOutcomeTest, TheFirstCauseIsHandedOnInOneLine) {
  OutcomeFacts facts = ran(1);
  facts.first_cause = "denied\nby\xff policy";

  const Outcome outcome = describe_outcome(facts);

  EXPECT_EQ(outcome.first_cause, "denied\\x0aby\\xff policy");
}

OutcomeFacts used(OutcomeFacts facts, CeilingUse use) {
  facts.use = use;
  return facts;
}

constexpr CeilingUse kNoneMet{
    .peak_memory_bytes = 3u << 20, .out_of_memory_kills = 0, .denied_forks = 0};
constexpr CeilingUse kOutOfMemory{
    .peak_memory_bytes = 64u << 20, .out_of_memory_kills = 1, .denied_forks = 0};
constexpr CeilingUse kForksRefused{
    .peak_memory_bytes = 1u << 20, .out_of_memory_kills = 0, .denied_forks = 24};

TEST(DescribeOutcomeTest, ACeilingThatWasNotMetLeavesTheClassAndTellsThePeak) {
  expect_outcome(used(ran(0), kNoneMet), OutcomeClass::kExited, 0, "exit 0; peak memory 3.0 MiB");
  expect_outcome(used(ran(3), kNoneMet), OutcomeClass::kExited, 3, "exit 3; peak memory 3.0 MiB");
  expect_outcome(used(ran_into(SIGSEGV), kNoneMet), OutcomeClass::kSignalled, 128 + SIGSEGV,
                 "killed by SIGSEGV");
}

// field B70
TEST(DescribeOutcomeTest, ACommandThatRanOutOfMemoryEndedAtItsLimit) {
  expect_outcome(used(ran_into(SIGKILL), kOutOfMemory), OutcomeClass::kLimit, 128 + SIGKILL,
                 "mem_bytes: out of memory, 1 process killed; killed by SIGKILL; peak memory 64.0");
  // The one that was killed was a child of the command's.
  expect_outcome(used(ran(2), kOutOfMemory), OutcomeClass::kLimit, 2,
                 "mem_bytes: out of memory, 1 process killed; exit 2");
}

// field B69
TEST(DescribeOutcomeTest, ACommandThatCopedWithRefusedForksExitedAndOneThatDidNotMetItsLimit) {
  expect_outcome(used(ran(0), kForksRefused), OutcomeClass::kExited, 0,
                 "exit 0 (pids: 24 forks refused); peak memory 1.0 MiB");
  expect_outcome(used(ran(2), kForksRefused), OutcomeClass::kLimit, 2,
                 "pids: 24 forks refused; exit 2");
}

TEST(DescribeOutcomeTest, BothCeilingsAreNamedWhenBothWereMet) {
  CeilingUse both = kOutOfMemory;
  both.denied_forks = 1;
  both.out_of_memory_kills = 2;
  expect_outcome(used(ran(1), both), OutcomeClass::kLimit, 1,
                 "mem_bytes: out of memory, 2 processes killed; pids: 1 fork refused; exit 1");
}

TEST(DescribeOutcomeTest, AStopOnRequestStaysOneAndSaysWhatWasMet) {
  OutcomeFacts facts = used(ran(143), kForksRefused);
  facts.cancelled = true;
  expect_outcome(facts, OutcomeClass::kCancelled, 143, "(pids: 24 forks refused)");
  facts.timed_out = true;
  expect_outcome(facts, OutcomeClass::kTimeout, 143, "(pids: 24 forks refused)");
}

TEST(DescribeOutcomeTest, AJailThatItsOwnCeilingsKeptFromStartingSaysSo) {
  OutcomeFacts facts = used(ran(1), kForksRefused);
  facts.committed = false;
  facts.running = false;
  facts.command_signal = std::nullopt;
  expect_outcome(facts, OutcomeClass::kSetup, 125, "(pids: 24 forks refused)");
}

TEST(DescribeOutcomeTest, WhatTheKernelDoesNotTellIsNotClaimed) {
  const Outcome outcome = describe_outcome(used(ran(1), CeilingUse{}));
  EXPECT_EQ(outcome.outcome, OutcomeClass::kExited);
  EXPECT_EQ(outcome.detail, "exit 1");
}

// guard.md 6.1: a condition, never a claim
TEST(DescribeOutcomeTest, AStatusThatARefusedForkLeavesIsExplainedConditionallyUnderAForkBrake) {
  OutcomeFacts facts = ran(128);
  facts.fork_braked = true;
  expect_outcome(facts, OutcomeClass::kExited, 128, "exit 128; it may have met the process budget");

  for (const int code : {0, 1, 127, 129, 137}) {
    facts.code = code;
    EXPECT_THAT(describe_outcome(facts).detail, Not(HasSubstr("budget"))) << code;
  }
  facts.code = 128;
  facts.fork_braked = false;
  EXPECT_EQ(describe_outcome(facts).detail, "exit 128");
}

// uid 0 is held to no such limit, and then nothing was refused.
TEST(DescribeOutcomeTest, ForksAreBrakedWhereStage2SaysThatTheLimitIsInForce) {
  InnerReport report;
  report.applied = {"rlimit-cpu", "rlimit-processes"};
  EXPECT_TRUE(is_fork_braked("darwin", report));
  EXPECT_FALSE(is_fork_braked("linux", report));
  EXPECT_FALSE(is_fork_braked("darwin", std::nullopt));

  report.applied = {"rlimit-cpu"};
  report.skipped = {"rlimit-processes: the kernel holds uid 0 to no such limit"};
  EXPECT_FALSE(is_fork_braked("darwin", report));
}

TEST(DescribeOutcomeTest, ASignalUnderAForkBrakeIsASignal) {
  OutcomeFacts facts = ran_into(SIGKILL);
  facts.fork_braked = true;
  EXPECT_EQ(describe_outcome(facts).detail, "killed by SIGKILL");
}

}  // namespace
}  // namespace loom
