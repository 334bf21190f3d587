#include "report/conclude.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <loom/utf8.h>

namespace loom {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr const char* kMounts =
    "mounts:ro=1,rw=1,mask=0,bind_ro=0,bind_rw=0,scratch=tmpfs,base=minimal,"
    "plan=0123456789abcdef";

Audit bwrap_audit() {
  Audit audit;
  audit.when_witnessed = {"bwrap", kMounts};
  audit.when_silent = {"skip:bwrap: the inner stage sent no report"};
  return audit;
}

Audit degraded_audit() {
  Audit audit;
  const char* const lacks = "skip:bwrap: namespaces and view are not held";
  audit.when_witnessed = {lacks};
  audit.when_silent = {lacks};
  return audit;
}

WitnessedRun reported(std::vector<std::string> applied, std::vector<std::string> skipped = {}) {
  WitnessedRun run;
  run.report = InnerReport{.applied = std::move(applied), .skipped = std::move(skipped)};
  return run;
}

WitnessedRun with_ceilings(WitnessedRun run, CeilingOutcome ceilings) {
  run.ceilings = std::move(ceilings);
  return run;
}

CeilingOutcome ceilings(bool memory, bool pids, bool entered, std::string reason = "") {
  return CeilingOutcome{
      .memory_asked = memory, .pids_asked = pids, .entered = entered, .reason = std::move(reason)};
}

std::vector<std::string> skips_of(const std::vector<std::string>& entries) {
  std::vector<std::string> skips;
  for (const std::string& entry : entries) {
    if (entry.rfind("skip:", 0) == 0) skips.push_back(entry);
  }
  return skips;
}

// Nothing keeps a command from its group but the jail's view, or Landlock.
TEST(ConcludeTest, CeilingsThatTheCommandCouldLiftAreNotClaimed) {
  const auto entered = ceilings(false, true, true);
  const auto bare = conclude(degraded_audit(), with_ceilings(reported({"no-new-privs"}), entered));
  EXPECT_THAT(bare, Not(Contains("cgroup-v2")));
  EXPECT_THAT(bare, Contains(AllOf(StartsWith("skip:cgroup-v2: without bubblewrap and Landlock "),
                                   HasSubstr("; pids.max NOT applied"))));

  const auto landlocked = conclude(
      degraded_audit(), with_ceilings(reported({"landlock:abi=3", "no-new-privs"}), entered));
  EXPECT_THAT(landlocked, Contains("cgroup-v2"));
  const auto jailed = conclude(bwrap_audit(), with_ceilings(reported({"no-new-privs"}), entered));
  EXPECT_THAT(jailed, Contains("cgroup-v2"));
}

// cases.md 96
TEST(ConcludeTest, ACeilingThatWasAskedForAndNotEnteredIsASkipWithItsReason) {
  const auto entries =
      conclude(bwrap_audit(),
               with_ceilings(reported({"no-new-privs"}), ceilings(true, true, false, "no base")));

  EXPECT_THAT(entries, Contains("skip:cgroup-v2: no base; memory.max and pids.max NOT applied"));
  EXPECT_THAT(entries, Not(Contains("cgroup-v2")));
}

TEST(ConcludeTest, AnUnenteredCeilingWithoutAReasonHasADefaultOne) {
  const auto entries = conclude(
      bwrap_audit(), with_ceilings(reported({"no-new-privs"}), ceilings(true, false, false)));

  EXPECT_THAT(entries, Contains(AllOf(StartsWith("skip:cgroup-v2: no control group was attached; "),
                                      HasSubstr("memory.max NOT applied"))));
}

// cases.md 97
TEST(ConcludeTest, NoCeilingAskedForMeansNoWordAboutControlGroups) {
  const auto entries =
      conclude(bwrap_audit(),
               with_ceilings(reported({"no-new-privs"}), ceilings(false, false, false, "no base")));

  EXPECT_THAT(entries, ElementsAre("bwrap", kMounts, "no-new-privs"));
  EXPECT_THAT(skips_of(entries), IsEmpty());
}

// cases.md 98, as D24 changes it
TEST(ConcludeTest, ADegradedRunNamesTheMissingJailAndKeepsTheRest) {
  const auto entries = conclude(
      degraded_audit(),
      with_ceilings(reported({"landlock:abi=3", "no-new-privs"}), ceilings(true, false, true)));

  EXPECT_THAT(entries, ElementsAre("skip:bwrap: namespaces and view are not held", "cgroup-v2",
                                   "landlock:abi=3", "no-new-privs"));
}

// cases.md 99
TEST(ConcludeTest, TheCeilingSkipNamesExactlyWhatWasAskedFor) {
  const auto skip = [](bool memory, bool pids) {
    return skips_of(conclude(bwrap_audit(),
                             with_ceilings(reported({"x"}), ceilings(memory, pids, false, "why"))))
        .at(0);
  };

  EXPECT_EQ(skip(false, true), "skip:cgroup-v2: why; pids.max NOT applied");
  EXPECT_EQ(skip(true, false), "skip:cgroup-v2: why; memory.max NOT applied");
  EXPECT_EQ(skip(true, true), "skip:cgroup-v2: why; memory.max and pids.max NOT applied");
}

// cases.md 100
TEST(ConcludeTest, WithoutAReportNoJailIsClaimed) {
  const auto entries = conclude(bwrap_audit(), WitnessedRun{});

  EXPECT_THAT(entries, ElementsAre(StartsWith("skip:bwrap: "), StartsWith("skip:stage2: ")));
}

// cases.md 101
TEST(ConcludeTest, WithAReportTheJailAndItsMountsLead) {
  EXPECT_THAT(conclude(bwrap_audit(), reported({"landlock:abi=7"})),
              ElementsAre("bwrap", kMounts, "landlock:abi=7"));
}

// cases.md 102
TEST(ConcludeTest, AReportOfTwoEmptyListsIsNoReport) {
  EXPECT_THAT(conclude(bwrap_audit(), reported({})),
              ElementsAre(StartsWith("skip:bwrap: "), StartsWith("skip:stage2: ")));
}

TEST(ConcludeTest, AReportOfSkipsAloneIsAReport) {
  EXPECT_THAT(conclude(bwrap_audit(), reported({}, {"landlock: no kernel support"})),
              ElementsAre("bwrap", kMounts, "skip:landlock: no kernel support"));
}

// cases.md 103
TEST(ConcludeTest, TheReasonWhyBytesWereNoReportIsInTheSkip) {
  WitnessedRun run;
  run.report_error = "unknown key \"extra\"";

  EXPECT_THAT(conclude(bwrap_audit(), run),
              Contains(AllOf(StartsWith("skip:stage2: "), HasSubstr("unknown key \"extra\""))));
}

// cases.md 104
TEST(ConcludeTest, EverythingHasItsPlace) {
  Audit audit = bwrap_audit();
  audit.always = {"skip:jail: first"};
  audit.extras = {"mounts-by=handle", "pins=2"};
  audit.widened = {"mounts: readable root /a is writable"};
  WitnessedRun run = with_ceilings(reported({"rlimit-fsize", "no-new-privs"}, {"seccomp: absent"}),
                                   ceilings(true, false, false, "why"));
  run.host_entries = {"from-the-host"};
  run.late_skips = {"mounts: protected /p was replaced during the run"};

  EXPECT_THAT(conclude(audit, run),
              ElementsAre("skip:jail: first", "bwrap", kMounts, "from-the-host", "rlimit-fsize",
                          "no-new-privs", "mounts-by=handle", "pins=2",
                          "skip:mounts: readable root /a is writable",
                          "skip:mounts: protected /p was replaced during the run",
                          "skip:cgroup-v2: why; memory.max NOT applied", "skip:seccomp: absent"));
}

TEST(ConcludeTest, AnEnteredControlGroupStandsAfterTheMounts) {
  EXPECT_THAT(conclude(bwrap_audit(),
                       with_ceilings(reported({"no-new-privs"}), ceilings(false, true, true))),
              ElementsAre("bwrap", kMounts, "cgroup-v2", "no-new-privs"));
}

TEST(ConcludeTest, WhatTheHostClaimsOfItsProgramsFollowsTheInnerStagesEntries) {
  Audit audit = bwrap_audit();
  audit.extras = {"mounts-by=handle", "unheld:unix-path"};
  WitnessedRun run = reported({"no-new-privs", "caps=none"}, {"seccomp: why"});
  run.host_extras = {"launcher-pins"};
  EXPECT_THAT(conclude(audit, run),
              ElementsAre("bwrap", kMounts, "no-new-privs", "caps=none", "launcher-pins",
                          "mounts-by=handle", "unheld:unix-path", "skip:seccomp: why"));
  run.report.reset();
  EXPECT_THAT(conclude(audit, run), Not(Contains("launcher-pins")));
}

TEST(ConcludeTest, WidenedPathsAndExtrasAreNotClaimedWithoutAWitness) {
  Audit audit = bwrap_audit();
  audit.extras = {"mounts-by=handle"};
  audit.widened = {"mounts: readable root /a is writable"};

  const auto entries = conclude(audit, WitnessedRun{});

  EXPECT_THAT(entries, Not(Contains("mounts-by=handle")));
  EXPECT_THAT(entries, Not(Contains(HasSubstr("is writable"))));
}

// cases.md 105
TEST(ConcludeTest, AnUnsupportedPlatformSaysSoFirstAndMissesNoWitness) {
  Audit audit;
  audit.always = {"skip:jail: no jail for this system"};
  audit.when_silent = {"skip:platform-restrictions: none here"};
  audit.expects_witness = false;
  WitnessedRun run;
  run.host_entries = {"rlimit-cpu"};

  EXPECT_THAT(conclude(audit, run),
              ElementsAre("skip:jail: no jail for this system",
                          "skip:platform-restrictions: none here", "rlimit-cpu"));
}

TEST(ConcludeTest, AReportWhereNoneIsExpectedClaimsNothing) {
  Audit audit;
  audit.when_witnessed = {"bwrap"};
  audit.when_silent = {"skip:platform-restrictions: none here"};
  audit.expects_witness = false;

  EXPECT_THAT(conclude(audit, reported({"landlock:abi=7"})),
              ElementsAre("skip:platform-restrictions: none here"));
}

// cases.md 106
TEST(ConcludeTest, TheProxySkipOfTheInnerStageIsPublished) {
  EXPECT_THAT(conclude(bwrap_audit(), reported({"seccomp-net"}, {"network-proxy: no sidecar"})),
              Contains("skip:network-proxy: no sidecar"));
}

// cases.md 107
TEST(ConcludeTest, WhatTheInnerStageAppliedIsInTheList) {
  EXPECT_THAT(conclude(bwrap_audit(), reported({"no-new-privs"})), Contains("no-new-privs"));
}

TEST(ConcludeTest, EveryEntryIsOneLineOfUtf8) {
  for (const std::string& entry :
       conclude(bwrap_audit(), reported({"a\nbwrap\x7f"}, {"mounts: /\xff is\r\nwritable"}))) {
    EXPECT_TRUE(is_utf8(entry));
    EXPECT_EQ(entry.find_first_of("\n\r\x7f"), std::string::npos) << entry;
  }
}

// cases.md 219
TEST(ConcludeTest, AMacReportSpeaksOfTheProfileThenOfTheInnerStageAndLastOfWhatNothingHolds) {
  constexpr const char* kProfile =
      "seatbelt-fs:rw=3,mask=0,bind_ro=0,bind_rw=0,scratch=private-dir,base=minimal,"
      "plan=0123456789abcdef";
  Audit audit;
  audit.when_witnessed = {"seatbelt", kProfile, "seatbelt-net", "seatbelt-exec:allow=1,deny=0"};
  audit.when_silent = {"skip:seatbelt: the inner stage sent no report"};
  WitnessedRun run = reported({"rlimit-fsize", "rlimit-cpu"},
                              {"rlimit-address-space: Invalid argument; mem_bytes is not in force",
                               "darwin-process-lifecycle: sampled"});
  run.host_extras = {"launcher-pins"};

  EXPECT_THAT(conclude(audit, run),
              ElementsAre("seatbelt", kProfile, "seatbelt-net", "seatbelt-exec:allow=1,deny=0",
                          "rlimit-fsize", "rlimit-cpu", "launcher-pins",
                          "skip:rlimit-address-space: Invalid argument; mem_bytes is not in force",
                          "skip:darwin-process-lifecycle: sampled"));
  run.report.reset();
  EXPECT_THAT(conclude(audit, run),
              ElementsAre("skip:seatbelt: the inner stage sent no report",
                          StartsWith("skip:stage2: no report from the inner stage")));
}

}  // namespace
}  // namespace loom
