#include "host/mount_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "process_support.h"

namespace loom::host {
namespace {

using ::testing::Contains;

TEST(MountTableTest, ItStaysReadableAfterTheProcessEnded) {
  const auto child = spawn(probe({"sleep"}));
  ASSERT_TRUE(child && !child->failure);
  const auto table = MountTable::open(child->pid);
  ASSERT_TRUE(table) << table.error().message;
  const auto before = table->mount_points();
  ASSERT_TRUE(before);
  ::kill(child->pid, SIGKILL);
  wait_for(child->pidfd.get());

  const auto after = table->mount_points();

  ASSERT_TRUE(after) << after.error().message;
  EXPECT_THAT(*before, Contains("/"));
  EXPECT_EQ(*after, *before);
}

TEST(MountTableTest, AProcessThatIsNotThereHasNone) {
  const auto table = MountTable::open(0x7fff'ffff);

  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().sys_errno, ENOENT);
}

}  // namespace
}  // namespace loom::host
