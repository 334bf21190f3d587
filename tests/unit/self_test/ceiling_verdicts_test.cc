#include "app/self_test/ceiling_verdicts.h"

#include <gmock/gmock.h>

#include "tests/unit/self_test/probe_evidence.h"

namespace loom::app {
namespace {

ProbeRun with_use(std::string out, CeilingUse use) {
  ProbeRun run = reported(std::move(out), {"bwrap", "cgroup-v2"});
  run.result.use = use;
  return run;
}

CeilingUse denied(std::uint64_t forks) {
  CeilingUse use;
  use.denied_forks = forks;
  return use;
}

CeilingUse killed(std::uint64_t processes) {
  CeilingUse use;
  use.out_of_memory_kills = processes;
  return use;
}

ProbeRun without_group(std::string out) {
  return reported(std::move(out), {"bwrap", "skip:cgroup-v2: pids.max NOT applied"});
}

// What a run under a ceiling of the account's process count reports and prints on macOS.
ProbeRun burst(std::string out) {
  return reported(std::move(out),
                  {"seatbelt", "rlimit-processes", "skip:darwin-process-lifecycle: x"});
}

TEST(ForkBurstVerdictTest, ARefusalForWantOfProcessesIsEnforced) {
  EXPECT_THAT(judge_fork_burst(burst("fork-denied-eagain\n")), IsEnforced());
}

TEST(ForkBurstVerdictTest, ABurstThatStartedWholeIsAFailure) {
  EXPECT_THAT(judge_fork_burst(burst("fork-all-started\n")), IsAFailure("all 64 processes"));
}

TEST(ForkBurstVerdictTest, AnythingElseIsInconclusive) {
  for (const char* out : {"", "fork-error:EPERM (operation not permitted)\n", "fork-denied\n"}) {
    EXPECT_THAT(judge_fork_burst(burst(out)), IsAFailure("inconclusive")) << out;
  }
}

// cases.md 236
TEST(ForkBurstVerdictTest, ACeilingThatTheMachineDidNotSetIsASkipWhateverWasPrinted) {
  for (const char* out : {"fork-denied-eagain\n", "fork-all-started\n", ""}) {
    EXPECT_THAT(
        judge_fork_burst(reported(out, {"seatbelt", "skip:rlimit-processes: 40 run already"})),
        IsASkip("rlimit-processes: 40 run already"))
        << out;
  }
}

TEST(ForkBurstVerdictTest, TheBurstIsLargerThanItsRoom) { EXPECT_GT(kForkBurst, kForkRoom); }

TEST(ForkVerdictTest, ARefusedForkBesideOneThatSucceededIsEnforced) {
  EXPECT_THAT(judge_forks(with_use("started\nstarted\n", denied(1))), IsEnforced());
}

// cases.md 236
TEST(ForkVerdictTest, AGrantThatTheMachineDidNotGiveIsASkip) {
  EXPECT_THAT(judge_forks(without_group("started\n")), IsASkip("cgroup-v2: pids.max NOT applied"));
}

TEST(ForkVerdictTest, WithoutACountNothingWasRefused) {
  EXPECT_THAT(judge_forks(with_use("started\nall-ended\n", denied(0))),
              IsAFailure("no denied fork"));
  EXPECT_THAT(judge_forks(with_use("started\n", CeilingUse())), IsAFailure("no denied fork"));
}

TEST(ForkVerdictTest, ARefusalOfEveryForkProvesNothing) {
  EXPECT_THAT(judge_forks(with_use("", denied(3))), IsAFailure("not even one"));
}

TEST(ForkVerdictTest, ARunInNoGroupWhoseReportIsSilentIsAFailure) {
  EXPECT_THAT(judge_forks(reported("started\n", {"bwrap"})), IsAFailure("does not say so"));
}

ProbeRun flood() {
  ProbeRun run = printed(std::string(kFloodCap, '\0'));
  run.result.stdout_bytes = kFloodCap;
  run.result.stdout_truncated = true;
  return run;
}

TEST(FloodVerdictTest, ExactlyTheCapAndTruncatedIsEnforced) {
  EXPECT_THAT(judge_flood(flood()), IsEnforced());
}

TEST(FloodVerdictTest, OneByteMoreOrLessOrNoMarkIsAFailure) {
  ProbeRun run = flood();
  run.result.stdout_truncated = false;
  EXPECT_THAT(judge_flood(run), IsAFailure("not truncated"));
  run = flood();
  run.result.stdout_bytes = kFloodCap + 1;
  EXPECT_THAT(judge_flood(run), IsAFailure("65537 bytes reported"));
  run = flood();
  run.out.pop_back();
  EXPECT_THAT(judge_flood(run), IsAFailure("65535 received"));
  run = flood();
  run.out[7] = 'x';
  EXPECT_THAT(judge_flood(run), IsAFailure("other bytes"));
}

constexpr int kSignal = 25;

FileCeilingEvidence grown() {
  FileCeilingEvidence seen{.run = printed("SMALL-OK\n"),
                           .signal_number = kSignal,
                           .small_size = 6,
                           .large_size = kFileCeiling};
  seen.run.result.code = 128 + kSignal;
  return seen;
}

TEST(FileCeilingVerdictTest, AWriterEndedAtTheCeilingBesideASmallFileIsEnforced) {
  EXPECT_THAT(judge_file_ceiling(grown()), IsEnforced());
}

TEST(FileCeilingVerdictTest, AnotherSizeOrAnotherEndIsAFailure) {
  for (const std::optional<std::uint64_t> size :
       {std::optional<std::uint64_t>(262'144), std::optional<std::uint64_t>(65'535),
        std::optional<std::uint64_t>(0), std::optional<std::uint64_t>()}) {
    FileCeilingEvidence seen = grown();
    seen.large_size = size;
    EXPECT_THAT(judge_file_ceiling(seen), IsAFailure("the file is"));
  }
  FileCeilingEvidence seen = grown();
  seen.run.result.code = 1;
  EXPECT_THAT(judge_file_ceiling(seen), IsAFailure("not ended by SIGXFSZ"));
}

TEST(FileCeilingVerdictTest, AJailInWhichNothingCanBeWrittenProvesNothing) {
  FileCeilingEvidence seen = grown();
  seen.run.out.clear();
  EXPECT_THAT(judge_file_ceiling(seen), IsAFailure("a small file"));
  seen = grown();
  seen.small_size = 0;
  EXPECT_THAT(judge_file_ceiling(seen), IsAFailure("a small file"));
}

TEST(MemoryVerdictTest, AKillBesideASmallAllocationIsEnforced) {
  EXPECT_THAT(judge_memory(with_use("allocated 8388608\n", killed(1))), IsEnforced());
}

TEST(MemoryVerdictTest, AGrantThatTheMachineDidNotGiveIsASkip) {
  EXPECT_THAT(judge_memory(without_group("allocated 8388608\n")), IsASkip("cgroup-v2: "));
}

TEST(MemoryVerdictTest, WithoutAKillOrWithoutASmallAllocationNothingIsProven) {
  EXPECT_THAT(judge_memory(with_use("allocated 8388608\n268435456\n", CeilingUse())),
              IsAFailure("no kill"));
  EXPECT_THAT(judge_memory(with_use("allocated 0\n", killed(2))), IsAFailure("a small allocation"));
}

}  // namespace
}  // namespace loom::app
