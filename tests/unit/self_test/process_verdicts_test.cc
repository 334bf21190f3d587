#include "app/self_test/process_verdicts.h"

#include <gmock/gmock.h>

#include "tests/unit/self_test/probe_evidence.h"

namespace loom::app {
namespace {

using std::chrono::milliseconds;

LeftoverEvidence left(std::string out) {
  LeftoverEvidence seen{.run = printed(std::move(out)), .seen_alive = true, .gone = true};
  seen.run.settled = milliseconds(300);
  return seen;
}

TEST(OrphanVerdictTest, AnOrphanThatWasThereAndIsGoneIsEnforced) {
  EXPECT_THAT(judge_orphan(left("orphan-started 7\n")), IsEnforced());
}

TEST(OrphanVerdictTest, WithoutAnOrphanPromptnessProvesNothing) {
  for (const char* out : {"", "orphan-started\n", "orphan-started 0\n", "orphan-started x\n"}) {
    EXPECT_THAT(judge_orphan(left(out)), IsAFailure("no orphan")) << out;
  }
  LeftoverEvidence seen = left("orphan-started 7\n");
  seen.seen_alive = false;
  EXPECT_THAT(judge_orphan(seen), IsAFailure("inconclusive"));
}

TEST(OrphanVerdictTest, OneThatHoldsTheRunUpOrOutlivesItIsAFailure) {
  LeftoverEvidence seen = left("orphan-started 7\n");
  seen.run.settled = kMaxSettling + milliseconds(1);
  EXPECT_THAT(judge_orphan(seen), IsAFailure("10001 ms"));
  seen = left("orphan-started 7\n");
  seen.gone = false;
  EXPECT_THAT(judge_orphan(seen), IsAFailure("still there"));
}

TEST(SetsidVerdictTest, AnEscapeThatWasSeenAndIsGoneIsEnforced) {
  EXPECT_THAT(judge_setsid_escape(left("setsid-ok\nlauncher-done\n")), IsEnforced());
}

TEST(SetsidVerdictTest, EveryRuleOfTheProbeIsAFailureOfItsOwn) {
  EXPECT_THAT(judge_setsid_escape(left("setsid-denied\nlauncher-done\n")),
              IsAFailure("was denied"));
  EXPECT_THAT(judge_setsid_escape(left("launcher-done\n")), IsAFailure("no session was made"));
  EXPECT_THAT(judge_setsid_escape(left("setsid-ok\nsetsid-survived\n")), IsAFailure("survived"));
  LeftoverEvidence seen = left("setsid-ok\n");
  seen.seen_alive = false;
  EXPECT_THAT(judge_setsid_escape(seen), IsAFailure("inconclusive"));
  seen = left("setsid-ok\n");
  seen.gone = false;
  EXPECT_THAT(judge_setsid_escape(seen), IsAFailure("still there"));
  seen = left("setsid-ok\n");
  seen.run.settled = milliseconds(29'000);
  EXPECT_THAT(judge_setsid_escape(seen), IsAFailure("settling took"));
}

// Where no jail ends with its first process, an escape that is gone may have ended by itself.
TEST(SetsidVerdictTest, OnMacosAnEscapeMustHaveBeenObservedAndKilled) {
  LeftoverEvidence seen = left("setsid-ok\nlauncher-done\n");
  seen.must_be_swept = true;
  EXPECT_THAT(judge_setsid_escape(seen), IsAFailure("no observed descendant was killed"));

  seen.run.result.swept_descendant = true;
  EXPECT_THAT(judge_setsid_escape(seen), IsEnforced());

  seen.gone = false;
  EXPECT_THAT(judge_setsid_escape(seen), IsAFailure("still there"));
}

HeartbeatEvidence stopped() {
  HeartbeatEvidence seen{
      .run = printed("beats 2\n"), .first = "4\n", .second = "4\n", .gone = true};
  seen.run.settled = milliseconds(300);
  return seen;
}

TEST(HeartbeatVerdictTest, AHeartThatBeatAndStoppedIsEnforced) {
  EXPECT_THAT(judge_heartbeat(stopped()), IsEnforced());
}

TEST(HeartbeatVerdictTest, AHeartThatGoesOnIsAFailure) {
  HeartbeatEvidence seen = stopped();
  seen.second = "9\n";

  EXPECT_THAT(judge_heartbeat(seen), IsAFailure("\"4\", then \"9\""));
}

TEST(HeartbeatVerdictTest, AHeartThatNeverBeatTwiceProvesNothing) {
  for (const char* out : {"", "beats 0\n", "beats 1\n"}) {
    HeartbeatEvidence seen = stopped();
    seen.run.out = out;
    EXPECT_THAT(judge_heartbeat(seen), IsAFailure("no heartbeat")) << out;
  }
}

TEST(HeartbeatVerdictTest, AHeartThatMayHaveStoppedByItselfProvesNothing) {
  HeartbeatEvidence seen = stopped();
  seen.run.settled = milliseconds(19'000);

  EXPECT_THAT(judge_heartbeat(seen), IsAFailure("settling took"));
}

}  // namespace
}  // namespace loom::app
