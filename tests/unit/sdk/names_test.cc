#include <gtest/gtest.h>
#include <loom/features.h>
#include <loom/plan.h>
#include <loom/stage2_control.h>

#include <set>

namespace loom {
namespace {

TEST(NamesTest, RolesAreCalledAsThePolicyCallsItsLists) {
  EXPECT_EQ(path_role_name(PathRole::kReadableRoot), "readable_roots");
  EXPECT_EQ(path_role_name(PathRole::kWritableRoot), "writable_roots");
  EXPECT_EQ(path_role_name(PathRole::kProtected), "protected");
  EXPECT_EQ(path_role_name(PathRole::kMount), "mounts");
  EXPECT_EQ(path_role_name(PathRole::kScratch), "scratch");
}

TEST(NamesTest, NoTwoMountClassesShareAName) {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(MountClass::kPin); ++i) {
    EXPECT_TRUE(names.insert(mount_class_name(static_cast<MountClass>(i))).second) << i;
  }
}

TEST(NamesTest, NoTwoStage2StepsShareAName) {
  std::set<std::string_view> names;
  for (int i = 1; i <= static_cast<int>(Stage2Step::kExecute); ++i) {
    EXPECT_TRUE(names.insert(stage2_step_name(static_cast<Stage2Step>(i))).second) << i;
  }
}

TEST(NamesTest, AFactIsFoundByItsExactPathOnly) {
  const AbsolutePath asked = *AbsolutePath::parse("/srv/app");
  const AbsolutePath other = *AbsolutePath::parse("/srv/ap");
  const HostFacts facts{.paths = {PathFact{.path = asked, .real = other}}};

  ASSERT_NE(facts.find(asked), nullptr);
  EXPECT_EQ(facts.find(asked)->real, other);
  EXPECT_EQ(facts.find(other), nullptr);
}

}  // namespace
}  // namespace loom
