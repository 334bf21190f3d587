#include "backends/bwrap/survey.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "machine.h"

namespace loom::bwrap::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

Survey survey_of(const Machine& machine, const Policy& policy) {
  return survey({.policy = policy, .facts = machine.facts(policy)});
}

TEST(SurveyTest, AsksForEveryPathOfThePolicyAndForTheSystemRoots) {
  Policy policy = base_policy();
  policy.mounts = {mount("/srv/m", true, false)};
  const Survey asked = survey_of(Machine(), policy);

  EXPECT_EQ(asked.paths.size(), 14U + 1U + 1U + 2U + 1U + 1U);
  EXPECT_THAT(asked.paths,
              Contains(SurveyPath{.path = path("/usr"), .role = PathRole::kSystemRoot}));
  EXPECT_THAT(asked.paths,
              Contains(SurveyPath{.path = path("/opt/tools"), .role = PathRole::kReadableRoot}));
  EXPECT_THAT(asked.paths,
              Contains(SurveyPath{.path = path("/work"), .role = PathRole::kWritableRoot}));
  EXPECT_THAT(asked.paths,
              Contains(SurveyPath{.path = path("/work/.env"), .role = PathRole::kProtected}));
  EXPECT_THAT(asked.paths, Contains(SurveyPath{.path = path("/srv/m"), .role = PathRole::kMount}));
  EXPECT_THAT(asked.paths, Contains(SurveyPath{.path = path("/tmp"), .role = PathRole::kScratch}));
}

// cases.md 121
TEST(SurveyTest, ProgramsAreNotSoughtWhereTheCommandCanWrite) {
  Policy policy = base_policy();
  policy.mounts = {mount("/srv/rw", true, false), mount("/srv/ro", false, false)};
  EXPECT_THAT(survey_of(Machine(), policy).search_excluded,
              ElementsAre(path("/work"), path("/tmp"), path("/srv/rw")));
  policy.writable_roots = paths({"/work/."});
  policy.mounts = {};
  policy.scratch = {.host_path = path("/host/scratch/"), .written = "/host/scratch/"};
  EXPECT_THAT(survey_of(Machine(), policy).search_excluded,
              ElementsAre(path("/work"), path("/host/scratch")));
}

// cases.md 122
TEST(SurveyTest, ScratchDirectoryIsTheOneTheCommandReallyHas) {
  Policy bound = empty_policy();
  bound.scratch = {.host_path = path("/s/"), .written = "/s/"};
  Machine degraded;
  degraded.without_launcher();

  EXPECT_EQ(survey_of(Machine(), empty_policy()).scratch_dir, "/tmp");
  EXPECT_EQ(survey_of(degraded, empty_policy()).scratch_dir, std::nullopt);
  EXPECT_EQ(survey_of(Machine(), bound).scratch_dir, "/s/");
  EXPECT_EQ(survey_of(degraded, bound).scratch_dir, "/s/");
}

}  // namespace
}  // namespace loom::bwrap::test
