#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/seatbelt/list_features.h"
#include "mac_fixture.h"

namespace loom::seatbelt::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(SeatbeltFeaturesTest, AMacWithItsLauncher) {
  const Features found = list_features(Mac().bare_facts());
  EXPECT_THAT(found.tags, ElementsAre("rlimits", "pgroup", "seatbelt"));
  EXPECT_FALSE(found.degraded);
  EXPECT_THAT(found.refusal, IsEmpty());
  EXPECT_EQ(found.exec, ExecSupport::kRendered);
  EXPECT_FALSE(found.can_warm);
  ASSERT_EQ(found.absent.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(found.absent[i].reason, "Linux only");
  EXPECT_EQ(found.absent[0].tag, "landlock");
  EXPECT_EQ(found.absent[1].tag, "seccomp");
  EXPECT_EQ(found.absent[2].tag, "cgroup-v2");
}

// cases.md 214
TEST(SeatbeltFeaturesTest, WithoutItsLauncherItIsDegraded) {
  const Features found = list_features(Mac().without_launcher().bare_facts());
  EXPECT_THAT(found.tags, ElementsAre("rlimits", "pgroup", "degraded"));
  EXPECT_TRUE(found.degraded);
  EXPECT_EQ(found.exec, ExecSupport::kNone);
  EXPECT_EQ(found.absent.at(0).tag, "seatbelt");
  EXPECT_THAT(found.absent.at(0).reason, HasSubstr("sandbox-exec: no such file"));
}

TEST(SeatbeltFeaturesTest, WithoutStage2ItDoesNotServe) {
  EXPECT_THAT(list_features(Mac().without_stage2().bare_facts()).refusal,
              HasSubstr("stage 2 is missing"));
}

}  // namespace
}  // namespace loom::seatbelt::test
