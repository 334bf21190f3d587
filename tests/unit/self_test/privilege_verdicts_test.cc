#include "app/self_test/privilege_verdicts.h"

#include <gmock/gmock.h>

#include "tests/unit/self_test/probe_evidence.h"

namespace loom::app {
namespace {

using ::testing::Pair;
using ::testing::UnorderedElementsAre;

LandlockEvidence held_landlock() {
  return {.run = printed("MOUNTS-ALLOW\nALLOWED-OK\n",
                         "sh: 3: cannot create /proc/self/oom_score_adj: Permission denied\n"),
          .helper_can_open = true};
}

TEST(LandlockVerdictTest, ARefusalThatMountsWouldNotHaveMadeIsEnforced) {
  EXPECT_THAT(judge_landlock(held_landlock()), IsEnforced());
}

TEST(LandlockVerdictTest, AnOpenedFileIsAFailure) {
  LandlockEvidence seen = held_landlock();
  seen.run.out += "OPENED\n";

  EXPECT_THAT(judge_landlock(seen), IsAFailure("opened for writing"));
}

TEST(LandlockVerdictTest, ARefusalOfSomebodyElsesProvesNothing) {
  LandlockEvidence seen = held_landlock();
  seen.run.err = "cannot create: Read-only file system\n";
  EXPECT_THAT(judge_landlock(seen), IsAFailure("not refused as Landlock does"));
  seen = held_landlock();
  seen.run.out = "ALLOWED-OK\n";
  EXPECT_THAT(judge_landlock(seen), IsAFailure("mounts or permissions"));
  seen = held_landlock();
  seen.run.out = "MOUNTS-ALLOW\n";
  EXPECT_THAT(judge_landlock(seen), IsAFailure("could not write inside"));
  seen = held_landlock();
  seen.helper_can_open = false;
  EXPECT_THAT(judge_landlock(seen), IsASkip("the helper itself"));
}

TEST(LandlockVerdictTest, AReadOnlyProcOfTheHostsIsNoWitnessAndTheSkipSaysSo) {
  LandlockEvidence seen = held_landlock();
  seen.run.out = "ALLOWED-OK\n";
  seen.run.result.enforcement = {"bwrap", "unheld:pid-namespace=no proc"};
  EXPECT_THAT(judge_landlock(seen), IsASkip("unheld:pid-namespace=no proc"));
  seen.run.out = "OPENED\nALLOWED-OK\n";
  EXPECT_THAT(judge_landlock(seen), IsAFailure("opened for writing"));
}

constexpr const char* kNone = "0000000000000000";

std::string status(const std::string& effective, const std::string& bounding,
                   const std::string& no_new_privileges) {
  return "Name:\tcat\nCapInh:\t" + std::string(kNone) + "\nCapPrm:\t" + kNone + "\nCapEff:\t" +
         effective + "\nCapBnd:\t" + bounding + "\nCapAmb:\t" + kNone + "\nNoNewPrivs:\t" +
         no_new_privileges + "\nSeccomp:\t2\n";
}

TEST(PrivilegeVerdictTest, NothingLeftAndClaimedIsEnforced) {
  EXPECT_THAT(judge_privileges(reported(status(kNone, kNone, "1"), {"no-new-privs", "caps=none"})),
              IsEnforced());
}

TEST(PrivilegeVerdictTest, AClaimThatIsNotTrueIsAFailure) {
  EXPECT_THAT(judge_privileges(
                  reported(status(kNone, "000001ffffffffff", "1"), {"no-new-privs", "caps=none"})),
              IsAFailure("not empty: bounding"));
  EXPECT_THAT(judge_privileges(
                  reported(status("0000000000000001", kNone, "1"), {"no-new-privs", "caps=none"})),
              IsAFailure("not empty: effective"));
  EXPECT_THAT(judge_privileges(reported(status(kNone, kNone, "0"), {"no-new-privs", "caps=none"})),
              IsAFailure("it is not set"));
}

TEST(PrivilegeVerdictTest, WhatIsReportedAsNotHeldIsASkipIfItIsTrue) {
  EXPECT_THAT(judge_privileges(reported(status(kNone, "00000000000000ff", "1"),
                                        {"no-new-privs", "unheld:caps=bounding"})),
              IsASkip("unheld:caps=bounding"));
  EXPECT_THAT(judge_privileges(reported(status("0000000000000001", "00000000000000ff", "1"),
                                        {"no-new-privs", "unheld:caps=bounding"})),
              IsAFailure("not empty: effective,bounding"));
  EXPECT_THAT(judge_privileges(
                  reported(status(kNone, kNone, "0"), {"skip:no-new-privs: not in this kernel"})),
              IsASkip("no-new-privs: not in this kernel"));
  EXPECT_THAT(judge_privileges(
                  reported(status(kNone, kNone, "0"), {"skip:platform-restrictions: no stage 2"})),
              IsASkip("no stage 2"));
}

TEST(PrivilegeVerdictTest, WhatAnybodyMayGiveUpIsNoSkipEvenIfItIsReported) {
  EXPECT_THAT(judge_privileges(reported(status("0000000000000001", "00000000000000ff", "1"),
                                        {"no-new-privs", "unheld:caps=effective,bounding"})),
              IsAFailure("unheld:caps=effective,bounding"));
}

TEST(PrivilegeVerdictTest, AReportThatSaysNothingIsAFailure) {
  EXPECT_THAT(judge_privileges(reported(status(kNone, kNone, "1"), {"caps=none"})),
              IsAFailure("does not claim no-new-privs"));
  EXPECT_THAT(judge_privileges(reported(status(kNone, kNone, "1"), {"no-new-privs"})),
              IsAFailure("does not claim caps=none"));
  EXPECT_THAT(
      judge_privileges(reported(status(kNone, kNone, "1"), {"no-new-privs", "caps=CAP_KILL"})),
      IsAFailure("does not claim caps=none"));
}

TEST(PrivilegeVerdictTest, AStatusThatWasNotPrintedProvesNothing) {
  EXPECT_THAT(judge_privileges(reported("", {"no-new-privs", "caps=none"})),
              IsAFailure("inconclusive"));
  EXPECT_THAT(judge_privileges(reported(status(kNone, "", "1"), {"no-new-privs", "caps=none"})),
              IsAFailure("inconclusive"));
}

CallEvidence held_calls() {
  return {.run = reported("call clone3 38\ncall mount 1\ncalls-done\n", {"seccomp-deny"}),
          .control = "call clone3 22\ncall mount 14\ncalls-done\n",
          .calls = {{.name = "clone3", .refusal = 38}, {.name = "mount", .refusal = 1}}};
}

TEST(CallVerdictTest, CallsThatOnlyTheJailRefusesAreEnforced) {
  EXPECT_THAT(judge_calls(held_calls()), IsEnforced());
}

TEST(CallVerdictTest, AnswersAreReadByName) {
  EXPECT_THAT(parse_calls("call clone3 38\ncall x\ncall y z\nother\ncall mount 0\n"),
              UnorderedElementsAre(Pair("clone3", 38), Pair("mount", 0)));
}

TEST(CallVerdictTest, OneCallThatIsNotRefusedIsAFailure) {
  CallEvidence seen = held_calls();
  seen.run.out = "call clone3 38\ncall mount 14\ncalls-done\n";
  EXPECT_THAT(judge_calls(seen), IsAFailure("mount was not refused with errno 1"));
  seen.run.out = "call clone3 38\ncalls-done\n";
  EXPECT_THAT(judge_calls(seen), IsAFailure("mount was not refused with errno 1"));
}

TEST(CallVerdictTest, ACallThatIsRefusedEverywhereIsNoEvidenceEitherWay) {
  CallEvidence seen = held_calls();
  seen.control = "call clone3 22\ncall mount 1\ncalls-done\n";
  seen.run.out = "call clone3 38\ncall mount 14\ncalls-done\n";
  EXPECT_THAT(judge_calls(seen), IsEnforced());
  seen.control = "call clone3 38\ncall mount 1\ncalls-done\n";
  EXPECT_THAT(judge_calls(seen), IsASkip("without a jail too"));
}

TEST(CallVerdictTest, WithoutAClaimOrAControlItIsASkip) {
  CallEvidence seen = held_calls();
  seen.run.result.enforcement = {"unheld:seccomp-deny"};
  EXPECT_THAT(judge_calls(seen), IsASkip("unheld:seccomp-deny"));
  seen.run.result.enforcement.clear();
  EXPECT_THAT(judge_calls(seen), IsASkip("does not claim seccomp-deny"));
  seen = held_calls();
  seen.control = "call clone3 22\n";
  EXPECT_THAT(judge_calls(seen), IsASkip("did not finish"));
}

TEST(CallVerdictTest, APayloadThatDidNotTryAllProvesNothing) {
  CallEvidence seen = held_calls();
  seen.run.out = "call clone3 38\ncall mount 1\n";

  EXPECT_THAT(judge_calls(seen), IsAFailure("not all calls were tried"));
}

}  // namespace
}  // namespace loom::app
