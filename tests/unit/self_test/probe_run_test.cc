#include "app/self_test/probe_run.h"

#include <gmock/gmock.h>

#include "tests/unit/self_test/probe_evidence.h"

namespace loom::app {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::vector<std::string> kEntries = {"bwrap", "landlock:abi=7", "caps=none",
                                           "skip:cgroup-v2: no base here: none; pids.max",
                                           "skip:stage2: silent"};

// cases.md 236
TEST(SkipReaderTest, GivesTheEntrysTextWithoutItsPrefix) {
  EXPECT_EQ(read_skip(kEntries, "cgroup-v2"), "cgroup-v2: no base here: none; pids.max");
}

// cases.md 236
TEST(SkipReaderTest, GivesNothingForALayerThatWasAppliedOrNotMentioned) {
  EXPECT_EQ(read_skip({"bwrap", "cgroup-v2"}, "cgroup-v2"), std::nullopt);
  EXPECT_EQ(read_skip(kEntries, "bwrap"), std::nullopt);
  EXPECT_EQ(read_skip(kEntries, "cgroup"), std::nullopt);
  EXPECT_EQ(read_skip({}, "cgroup-v2"), std::nullopt);
}

TEST(SkipReaderTest, ASkippedLayerIsNotAClaimedOne) {
  EXPECT_TRUE(is_claimed(kEntries, "landlock"));
  EXPECT_TRUE(is_claimed(kEntries, "caps"));
  EXPECT_FALSE(is_claimed(kEntries, "cgroup-v2"));
  EXPECT_FALSE(is_claimed(kEntries, "land"));
}

TEST(PayloadRanTest, ARunThatNeverReachedItsPayloadSaysNothingAboutLayers) {
  for (const OutcomeClass outcome : {OutcomeClass::kSetup, OutcomeClass::kExec}) {
    ProbeRun run = printed("ALLOWED-OK\n", "bwrap: no permission\n");
    run.result.outcome.outcome = outcome;
    run.result.outcome.detail = "the jail was not set up";

    const auto ran = require_payload_ran(run);

    ASSERT_FALSE(ran);
    EXPECT_THAT(ran.error().message, AllOf(StartsWith("setup: the jail was not set up"),
                                           HasSubstr("\"bwrap: no permission\"")));
  }
}

TEST(PayloadRanTest, HoweverAPayloadEndedItRan) {
  for (const OutcomeClass outcome :
       {OutcomeClass::kExited, OutcomeClass::kSignalled, OutcomeClass::kLimit,
        OutcomeClass::kTimeout, OutcomeClass::kCancelled}) {
    ProbeRun run;
    run.result.outcome.outcome = outcome;
    EXPECT_TRUE(require_payload_ran(run));
  }
}

}  // namespace
}  // namespace loom::app
