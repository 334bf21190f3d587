#include "app/ceilings_in_reach.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "app/session.h"
#include "host/mount_table.h"

namespace loom::app {
namespace {

using testing::AllOf;
using testing::HasSubstr;

AbsolutePath path(const std::string& text) { return *AbsolutePath::parse(text); }

// A directory where this machine shows control groups of the second version, or "".
std::string control_groups() {
  const auto table = host::MountTable::open(::getpid());
  if (!table) return "";
  const auto points = table->mount_points_of_type("cgroup2");
  return points && !points->empty() ? points->front() : "";
}

Policy with_ceiling(const AbsolutePath& writable) {
  Policy policy;
  policy.writable_roots = {writable};
  policy.limits.pids = 8;
  return policy;
}

// field B68
TEST(CeilingsInReachTest, AWritableRegionThatHoldsControlGroupsIsRefusedByName) {
  const std::string tree = control_groups();
  if (tree.empty()) GTEST_SKIP() << "no control groups of the second version are mounted here";
  for (const std::string& region : {std::string("/sys"), tree, tree + "/below"}) {
    const auto refused = refuse_ceilings_in_reach(with_ceiling(path(region)));
    ASSERT_FALSE(refused) << region;
    EXPECT_EQ(refused.error().code, ErrorCode::kDenied);
    EXPECT_THAT(refused.error().message, AllOf(HasSubstr(region), HasSubstr("pids")));
  }
}

TEST(CeilingsInReachTest, AMountAndAScratchAreRegionsToo) {
  const std::string tree = control_groups();
  if (tree.empty()) GTEST_SKIP() << "no control groups of the second version are mounted here";
  Policy mounted = with_ceiling(path("/work"));
  mounted.mounts.push_back({.path = path(tree), .writable = true, .required = false});
  EXPECT_FALSE(refuse_ceilings_in_reach(mounted));
  mounted.mounts.front().writable = false;
  EXPECT_TRUE(refuse_ceilings_in_reach(mounted));
  Policy scratch = with_ceiling(path("/work"));
  scratch.scratch.host_path = path(tree);
  EXPECT_FALSE(refuse_ceilings_in_reach(scratch));
}

TEST(CeilingsInReachTest, WithoutACeilingOrFarFromControlGroupsNothingIsRefused) {
  EXPECT_TRUE(refuse_ceilings_in_reach(with_ceiling(path("/work"))));
  Policy policy = with_ceiling(path("/sys"));
  policy.limits.pids.reset();
  EXPECT_TRUE(refuse_ceilings_in_reach(policy));
}

TEST(CgroupBaseTest, TheFlagWinsAndTheVariableIsTrimmed) {
  EXPECT_EQ(configured_cgroup_base("/a", "/b"), "/a");
  EXPECT_EQ(configured_cgroup_base("", "/b"), "/b");
  EXPECT_EQ(configured_cgroup_base("", " \t/b c\n"), "/b c");
  EXPECT_EQ(configured_cgroup_base("", " \n"), "");
  EXPECT_EQ(configured_cgroup_base("", ""), "");
}

}  // namespace
}  // namespace loom::app
