#include "app/self_test/inherited_verdicts.h"

#include <gmock/gmock.h>

#include "tests/unit/self_test/probe_evidence.h"

namespace loom::app {
namespace {

TEST(EnvironmentVerdictTest, PathWithoutTheCanaryIsEnforced) {
  EXPECT_THAT(judge_environment(printed("PATH=/usr/bin\n")), IsEnforced());
}

TEST(EnvironmentVerdictTest, TheCanarysNameAnywhereIsAFailure) {
  EXPECT_THAT(judge_environment(printed("LOOM_SECRET_CANARY=\nPATH=/usr/bin\n")),
              IsAFailure("canary"));
}

TEST(EnvironmentVerdictTest, AnEmptyEnvironmentProvesNothing) {
  EXPECT_THAT(judge_environment(printed("")), IsAFailure("PATH"));
  EXPECT_THAT(judge_environment(printed("XPATH=/usr/bin\n")), IsAFailure("PATH"));
}

constexpr const char* kClean = "listing\n0\n1\n2\nmarked-listing\n0\n1\n2\n7\n";

TEST(DescriptorVerdictTest, ThreeDescriptorsInAListingThatShowsAFourthIsEnforced) {
  EXPECT_THAT(judge_descriptors(printed(kClean), "7"), IsEnforced());
}

TEST(DescriptorVerdictTest, OneMoreOrOneLessIsAFailure) {
  EXPECT_THAT(
      judge_descriptors(printed("listing\n0\n1\n11\n2\nmarked-listing\n0\n1\n11\n2\n7\n"), "7"),
      IsAFailure("not 0, 1 and 2"));
  EXPECT_THAT(judge_descriptors(printed("listing\n1\n2\nmarked-listing\n1\n2\n7\n"), "7"),
              IsAFailure("not 0, 1 and 2"));
}

TEST(DescriptorVerdictTest, AListingThatShowsNoLeakProvesNothing) {
  EXPECT_THAT(judge_descriptors(printed("listing\n0\n1\n2\nmarked-listing\n0\n1\n2\n"), "7"),
              IsAFailure("does not show"));
  EXPECT_THAT(judge_descriptors(printed("listing\n0\n1\n2\n"), "7"), IsAFailure("inconclusive"));
  EXPECT_THAT(judge_descriptors(printed(""), "7"), IsAFailure("inconclusive"));
}

}  // namespace
}  // namespace loom::app
