#include "host/process_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>

#include "process_support.h"

namespace loom::host {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;

class ProcessTableTest : public ::testing::Test {
 protected:
  ProcessTableTest() {
    auto child = spawn(probe({"sleep"}));
    if (child) child_ = std::move(*child);
  }
  ~ProcessTableTest() override {
    if (child_.pid > 0) ::kill(child_.pid, SIGKILL);
    if (child_.pid > 0) ::waitpid(child_.pid, nullptr, 0);
  }

  SpawnedChild child_;
};

TEST_F(ProcessTableTest, AChildIsInTheTableWithItsParent) {
  const auto table = read_process_table();

  ASSERT_TRUE(table);
  const auto row = std::find_if(table->begin(), table->end(),
                                [this](const ProcessRow& one) { return one.pid == child_.pid; });
  ASSERT_NE(row, table->end());
  EXPECT_EQ(row->parent, ::getpid());
  EXPECT_EQ(*row, read_process(child_.pid));
}

TEST_F(ProcessTableTest, ChildrenAreListed) {
  const auto children = read_children(::getpid());

  ASSERT_TRUE(children) << children.error().message;
  EXPECT_THAT(*children, Contains(child_.pid));
}

TEST_F(ProcessTableTest, AProcessThatIsGoneHasNoRowNoStateAndNoChildren) {
  const pid_t pid = child_.pid;
  ::kill(pid, SIGKILL);
  ASSERT_TRUE(becomes_readable(child_.pidfd.get()));
  EXPECT_EQ(read_process_state(pid), 'Z');
  wait_for(child_.pidfd.get());
  child_.pid = -1;

  EXPECT_FALSE(read_process(pid).has_value());
  EXPECT_EQ(read_process_state(pid), '\0');
  const auto children = read_children(pid);
  ASSERT_TRUE(children);
  EXPECT_THAT(*children, IsEmpty());
}

TEST_F(ProcessTableTest, ASignalReachesTheProcessItNames) {
  const auto row = read_process(child_.pid);
  ASSERT_TRUE(row.has_value());

  EXPECT_TRUE(signal_process(*row, SIGTERM));

  EXPECT_EQ(wait_for(child_.pidfd.get()).signal, SIGTERM);
  child_.pid = -1;
}

TEST_F(ProcessTableTest, AProcessWithAnotherBirthIsLeftAlone) {
  auto row = read_process(child_.pid);
  ASSERT_TRUE(row.has_value());
  row->birth += 1;

  EXPECT_FALSE(signal_process(*row, SIGKILL));

  EXPECT_FALSE(becomes_readable(child_.pidfd.get(), 100));
}

TEST_F(ProcessTableTest, NoRowMeansEverybodyOrAGroup) {
  for (const std::int32_t pid : {0, -1, -child_.pid}) {
    EXPECT_FALSE(signal_process(ProcessRow{.pid = pid, .parent = 0, .birth = 0}, SIGKILL));
  }

  EXPECT_FALSE(becomes_readable(child_.pidfd.get(), 100));
}

}  // namespace
}  // namespace loom::host
