#include "backends/seatbelt/survey.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "backends/seatbelt/platform.h"
#include "mac_fixture.h"

namespace loom::seatbelt::test {
namespace {

using ::testing::ElementsAre;

Survey surveyed(const Mac& mac, const Policy& policy) {
  auto made = survey({.policy = policy, .facts = mac.bare_facts()});
  EXPECT_TRUE(made.has_value());
  return made ? *std::move(made) : Survey{};
}

std::vector<AbsolutePath> asked(const Survey& survey, PathRole role) {
  std::vector<AbsolutePath> found;
  for (const SurveyPath& each : survey.paths) {
    if (each.role == role) found.push_back(each.path);
  }
  return found;
}

TEST(SeatbeltSurveyTest, AsksForEverythingTheProfileSpeaksOf) {
  Policy policy = work_policy();
  policy.readable_roots = paths({"/r"});
  policy.mounts = {mount("/m", true), mount("/n", false)};
  const Survey made = surveyed(Mac(), policy);

  EXPECT_EQ(asked(made, PathRole::kSystemRoot).size(), kSystemView.size());
  EXPECT_EQ(asked(made, PathRole::kReadableRoot), paths({"/r"}));
  EXPECT_EQ(asked(made, PathRole::kWritableRoot), paths({kWork}));
  EXPECT_EQ(asked(made, PathRole::kProtected), paths({std::string(kWork) + "/.git"}));
  EXPECT_EQ(asked(made, PathRole::kMount), paths({"/m", "/n"}));
  EXPECT_EQ(asked(made, PathRole::kPiece), paths({kUserTemp, kUserCache, kStage2Path}));
  EXPECT_FALSE(made.needs_mounts);
}

TEST(SeatbeltSurveyTest, APrivateScratchIsTheHostsToMake) {
  const Survey made = surveyed(Mac(), work_policy());
  ASSERT_TRUE(made.private_scratch.has_value());
  EXPECT_EQ(made.private_scratch->parent, path("/private/tmp"));
  EXPECT_EQ(made.private_scratch->prefix, "loom-exec-scratch-");
  EXPECT_FALSE(made.scratch_dir.has_value());
}

TEST(SeatbeltSurveyTest, AScratchOfTheHostIsCalledWhatThePolicyCallsIt) {
  Policy policy = work_policy();
  policy.scratch = {.host_path = path("/tmp/s"), .written = "/tmp//s"};
  const Survey made = surveyed(Mac(), policy);
  EXPECT_EQ(made.scratch_dir, "/tmp//s");
  EXPECT_FALSE(made.private_scratch.has_value());
  EXPECT_EQ(asked(made, PathRole::kScratch), paths({"/tmp/s"}));

  policy.scratch.written.clear();
  EXPECT_EQ(surveyed(Mac(), policy).scratch_dir, "/tmp/s");
}

TEST(SeatbeltSurveyTest, NoProgramIsFoundWhereTheCommandCanWrite) {
  Policy policy = work_policy();
  policy.scratch = {.host_path = path("/s"), .written = "/s"};
  policy.mounts = {mount("/m", true), mount("/n", false)};
  EXPECT_EQ(surveyed(Mac(), policy).search_excluded,
            paths({kWork, "/s", kUserTemp, kUserCache, "/m"}));
}

TEST(SeatbeltSurveyTest, FactsOfAnotherKindAreRefused) {
  HostFacts facts = Mac().bare_facts();
  facts.backend = Bytes{std::byte{0x01}};
  EXPECT_FALSE(survey({.policy = work_policy(), .facts = facts}).has_value());
}

}  // namespace
}  // namespace loom::seatbelt::test
