// What only Linux has is absent by name elsewhere, and nothing breaks over it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/control_group.h"
#include "host/control_group_base.h"
#include "host/event_loop.h"
#include "host/name_watch.h"
#include "host/spawn.h"
#include "process_support.h"

namespace loom::host {
namespace {

using ::testing::HasSubstr;

TEST(AbsentPartsTest, ControlGroupsSayWhyThereAreNone) {
  const ControlGroupBase base = detect_control_group_base("/sys/fs/cgroup");

  EXPECT_EQ(base.path, "");
  EXPECT_THAT(base.reason, HasSubstr("Linux only"));
  EXPECT_EQ(sweep_control_groups("/sys/fs/cgroup").error().code, ErrorCode::kUnsupported);
  const auto made = make_and_enter("/sys/fs/cgroup", 1, ::getpid(), {.memory_bytes = 1, .pids = 1});
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("Linux only"));
  EventLoop loop;
  EXPECT_TRUE(ControlGroupRemovals(loop).empty());
}

TEST(AbsentPartsTest, NamesAreNotWatched) {
  NameQueues queues;
  const auto watch = NameWatch::open({AbsolutePath::root()}, queues);

  ASSERT_FALSE(watch);
  EXPECT_EQ(watch.error().code, ErrorCode::kUnsupported);
}

TEST(AbsentPartsTest, NoChildDiesWithItsParentByItself) { EXPECT_FALSE(can_die_with_parent()); }

}  // namespace
}  // namespace loom::host
