#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "control_group_support.h"
#include "host/control_group_base.h"

namespace loom::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class SweepTest : public ::testing::Test {
 protected:
  std::string at(const std::string& name) const { return directory_ / name; }
  static std::string leftover(const std::string& id) { return "exec-" + id + "-" + kNobody; }
  void make(const std::string& name) const { std::filesystem::create_directories(at(name)); }
  void make_with_events(const std::string& name, const std::string& events) const {
    make(name);
    write_text(at(name) + "/cgroup.events", events);
  }
  Swept sweep() const {
    auto swept = sweep_control_groups(directory_.str());
    EXPECT_TRUE(swept) << swept.error().message;
    return swept.value_or(Swept{.removed = -1, .problems = {}});
  }
  bool there(const std::string& name) const {
    return std::filesystem::exists(std::filesystem::symlink_status(at(name)));
  }

  TemporaryDirectory directory_;
};

// cases.md 154
TEST_F(SweepTest, OnlyAnEmptyGroupOfAProcessThatIsGoneIsRemoved) {
  const std::string live = "exec-2-" + std::to_string(::getpid());
  make(leftover("1"));
  make_with_events(live, "populated 0\nfrozen 0\n");
  make_with_events(leftover("3"), "populated 1\nfrozen 0\n");
  for (const char* name : {"loom-exec-probe-1", "exec-8", "exec-8-9-10", "other"}) make(name);
  write_text(at("exec-1-5"), "a file");
  write_text(at(leftover("4")), "a file");

  const Swept swept = sweep();

  EXPECT_EQ(swept.removed, 1);
  EXPECT_THAT(swept.problems, IsEmpty());
  EXPECT_FALSE(there(leftover("1")));
  for (const std::string& name :
       {live, leftover("3"), std::string("loom-exec-probe-1"), std::string("exec-8"),
        std::string("exec-8-9-10"), std::string("other"), std::string("exec-1-5"), leftover("4")}) {
    EXPECT_TRUE(there(name)) << name;
  }
}

// cases.md 155
TEST_F(SweepTest, GroupsInsideALeftoverGoWithIt) {
  make(leftover("2") + "/nested/deeper");

  const Swept swept = sweep();

  EXPECT_EQ(swept.removed, 1);
  EXPECT_THAT(swept.problems, IsEmpty());
  EXPECT_FALSE(there(leftover("2")));
}

// cases.md 156
TEST_F(SweepTest, AFileInALeftoverIsKeptAndTheSweepGoesOn) {
  make(leftover("1"));
  write_text(at(leftover("1") + "/file"), "x");
  make(leftover("2"));

  const Swept swept = sweep();

  EXPECT_EQ(swept.removed, 1);
  EXPECT_THAT(swept.problems, ElementsAre(StartsWith(leftover("1") + ": ")));
  EXPECT_TRUE(there(leftover("1") + "/file"));
  EXPECT_FALSE(there(leftover("2")));
}

// cases.md 157
TEST_F(SweepTest, AnAbsentBaseIsAnError) {
  const auto swept = sweep_control_groups(at("nowhere"));

  ASSERT_FALSE(swept);
  EXPECT_THAT(swept.error().message, HasSubstr("nowhere"));
}

TEST_F(SweepTest, ALinkNamedLikeALeftoverIsNotFollowed) {
  make("kept/inside");
  std::filesystem::create_directory_symlink(at("kept"), at(leftover("7")));
  make(leftover("8"));
  std::filesystem::create_directory_symlink(at("kept"), at(leftover("8") + "/link"));

  const Swept swept = sweep();

  EXPECT_EQ(swept.removed, 0);
  EXPECT_THAT(swept.problems, ElementsAre(StartsWith(leftover("8"))));  // not empty: a link
  EXPECT_TRUE(there(leftover("7")));
  EXPECT_TRUE(there("kept/inside"));
}

TEST_F(SweepTest, NestingBeyondReasonIsAProblemAndNoWork) {
  std::string deep = leftover("1");
  for (int i = 0; i < 40; ++i) deep += "/d";
  make(deep);
  make(leftover("2"));

  const Swept swept = sweep();

  EXPECT_EQ(swept.removed, 1);
  EXPECT_THAT(swept.problems, ElementsAre(HasSubstr("too many")));
  EXPECT_TRUE(there(leftover("1")));
}

class RealSweepTest : public RealControlGroupTest {};

// cases.md 158
TEST_F(RealSweepTest, TheKernelsOwnLeftoverGoesAndALiveHelpersFreshGroupStays) {
  const std::string gone = at(std::string("exec-9001-") + kNobody);
  const std::string live = at("exec-9002-" + std::to_string(::getpid()));
  for (const std::string& name : {gone, gone + "/nested", live}) {
    ASSERT_EQ(::mkdir(name.c_str(), 0755), 0);
  }

  const auto swept = sweep_control_groups(top_);

  ASSERT_TRUE(swept) << swept.error().message;
  EXPECT_EQ(swept->removed, 1);
  EXPECT_THAT(swept->problems, IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(gone));
  EXPECT_TRUE(std::filesystem::exists(live));
}

// Between the fork and the entry a group is empty: only the number in its name protects it.
TEST_F(RealSweepTest, AFreshGroupSurvivesFiveHundredSweepsAndNotTheFirstAfterItsProcess) {
  WaitingChild child;
  const std::string name = at("exec-1-" + std::to_string(child.pid()));
  ASSERT_EQ(::mkdir(name.c_str(), 0755), 0);

  for (int i = 0; i < 500; ++i) {
    const auto swept = sweep_control_groups(top_);
    ASSERT_TRUE(swept && swept->removed == 0 && std::filesystem::exists(name)) << i;
  }

  child.end();
  const auto swept = sweep_control_groups(top_);
  ASSERT_TRUE(swept) << swept.error().message;
  EXPECT_EQ(swept->removed, 1);
}

TEST_F(RealSweepTest, AGroupWithAProcessInItStaysWhosesoeverItIs) {
  const std::string name = at(std::string("exec-9003-") + kNobody);
  ASSERT_EQ(::mkdir(name.c_str(), 0755), 0);
  WaitingChild child;
  write_text(name + "/cgroup.procs", std::to_string(child.pid()));

  const auto swept = sweep_control_groups(top_);
  ASSERT_TRUE(swept) << swept.error().message;
  EXPECT_EQ(swept->removed, 0);
  EXPECT_THAT(swept->problems, IsEmpty());
  EXPECT_TRUE(std::filesystem::exists(name));

  child.end();
  ASSERT_TRUE(becomes_empty(name));
  const auto again = sweep_control_groups(top_);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->removed, 1);
  EXPECT_FALSE(std::filesystem::exists(name));
}

}  // namespace
}  // namespace loom::host
