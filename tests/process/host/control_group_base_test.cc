#include "host/control_group_base.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "control_group_support.h"
#include "host/control_group_checks.h"

namespace loom::host {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

MATCHER(IsOneLineWithTheHint, "") {
  for (const char* word : {"LOOM_CGROUP_BASE", "--cgroup-base", "Delegate=yes"}) {
    if (arg.find(word) == std::string::npos) {
      *result_listener << "does not name " << word;
      return false;
    }
  }
  return std::none_of(arg.begin(), arg.end(), [](char c) { return c == '\n' || c == '\r'; });
}

// An ordinary directory with the files of a group.
class DressedDirectoryTest : public ::testing::Test {
 protected:
  void dress(const std::string& path, const std::string& procs = "",
             const std::string& controllers = "cpu memory pids\n") const {
    std::filesystem::create_directories(path);
    write_text(path + "/cgroup.controllers", controllers);
    write_text(path + "/cgroup.procs", procs);
    write_text(path + "/cgroup.subtree_control", "cpu\n");
  }
  // Its files are not changed, and nothing is left in it.
  std::vector<std::string> listing(const std::string& path) const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      names.push_back(entry.path().filename());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  std::string at(const std::string& name) const { return directory_ / name; }
  ControlGroupPlaces places(const std::string& own) const {
    write_text(at("own"), own);
    return ControlGroupPlaces{.mount = at("mount"), .own = at("own")};
  }

  TemporaryDirectory directory_;
};

// cases.md 142
TEST_F(DressedDirectoryTest, AnEmptyGroupWithTheControllersIsAccepted) {
  dress(at("base"));

  EXPECT_EQ(interface_objection(at("base"), false), "");
}

// cases.md 143
TEST_F(DressedDirectoryTest, LookingWritesNoConfigurationAndLeavesNothing) {
  dress(at("base"));
  const auto before = listing(at("base"));

  EXPECT_EQ(interface_objection(at("base"), false), "");

  EXPECT_EQ(text_of(at("base/cgroup.subtree_control")), "cpu\n");
  EXPECT_EQ(listing(at("base")), before);
}

// cases.md 145
TEST_F(DressedDirectoryTest, ProcessesInTheBaseAreRefusedByRuleAndCountExceptInTheRoot) {
  dress(at("base"), "17\n4\n");

  EXPECT_THAT(interface_objection(at("base"), false),
              AllOf(HasSubstr("no-internal-process"), HasSubstr("2 processes")));
  EXPECT_EQ(interface_objection(at("base"), true), "");
}

// cases.md 147
TEST_F(DressedDirectoryTest, AMissingControllerIsNamed) {
  dress(at("none"), "", "cpu io\n");
  dress(at("memory"), "", "cpu pids\n");
  dress(at("pids"), "", "memory\n");

  EXPECT_THAT(interface_objection(at("none"), false), HasSubstr("memory and pids"));
  EXPECT_THAT(interface_objection(at("memory"), false),
              AllOf(HasSubstr("the memory controller"), Not(HasSubstr("and pids"))));
  EXPECT_THAT(interface_objection(at("pids"), false),
              AllOf(HasSubstr("the pids controller"), Not(HasSubstr("memory and"))));
}

TEST_F(DressedDirectoryTest, AnAbsentFileIsNamed) {
  dress(at("base"));
  std::filesystem::remove(at("base/cgroup.procs"));
  EXPECT_THAT(interface_objection(at("base"), false),
              AllOf(HasSubstr("cgroup.procs"), HasSubstr("No such file")));

  std::filesystem::remove(at("base/cgroup.controllers"));
  EXPECT_THAT(interface_objection(at("base"), false),
              AllOf(HasSubstr("cgroup.controllers"), HasSubstr("No such file")));
}

// cases.md 146
TEST_F(DressedDirectoryTest, SixteenHelpersLookAtOneBaseAtTheSameTime) {
  dress(at("base"));
  Pipe start = make_pipe();
  std::vector<pid_t> lookers;
  for (int i = 0; i < 16; ++i) {
    const pid_t pid = ::fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) {
      start.write.reset();
      static_cast<void>(read_text(start.read.get()));  // until the parent closes its end
      bool accepted = true;
      for (int n = 0; n < 20; ++n) accepted &= interface_objection(at("base"), false).empty();
      ::_exit(accepted ? 0 : 1);
    }
    lookers.push_back(pid);
  }
  start.write.reset();

  for (const pid_t pid : lookers) {
    int status = -1;
    ASSERT_EQ(::waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(listing(at("base")).size(), 3u);
}

// cases.md 148
TEST_F(DressedDirectoryTest, AnOrdinaryDirectoryIsNoBase) {
  const auto base = detect_control_group_base(directory_.str());

  EXPECT_EQ(base.path, "");
  EXPECT_THAT(base.reason, AllOf(HasSubstr("cgroup v2"), IsOneLineWithTheHint()));
}

// cases.md 149
TEST_F(DressedDirectoryTest, AnOrdinaryDirectoryWithTheFilesIsNoBaseEither) {
  dress(at("base"));

  const auto base = detect_control_group_base(at("base"));

  EXPECT_EQ(base.path, "");
  EXPECT_THAT(base.reason, AllOf(HasSubstr("cgroup2"), HasSubstr("0x63677270"),
                                 HasSubstr(at("base")), IsOneLineWithTheHint()));
  EXPECT_EQ(listing(at("base")).size(), 3u);
}

TEST_F(DressedDirectoryTest, ARelativeAndAMissingBaseAreReasons) {
  const auto relative = detect_control_group_base("some/where");
  const auto missing = detect_control_group_base(at("nowhere"));

  EXPECT_THAT(relative.reason,
              AllOf(HasSubstr("some/where: not an absolute path"), IsOneLineWithTheHint()));
  EXPECT_THAT(missing.reason,
              AllOf(HasSubstr(at("nowhere")), HasSubstr("No such file"), IsOneLineWithTheHint()));
  EXPECT_EQ(relative.path + missing.path, "");
}

TEST_F(DressedDirectoryTest, ANameWithALineBreakDoesNotBreakTheReason) {
  EXPECT_THAT(detect_control_group_base(at("two\nlines")).reason, IsOneLineWithTheHint());
}

// cases.md 152
TEST_F(DressedDirectoryTest, WithoutABaseAndWithoutAHierarchyTheReasonNamesTheVariable) {
  dress(at("mount"));

  const auto base = detect_control_group_base("", places("0::/\n"));

  EXPECT_EQ(base.path, "");
  EXPECT_THAT(base.reason, AllOf(HasSubstr(at("mount")), IsOneLineWithTheHint()));
}

TEST_F(DressedDirectoryTest, ABaseAboveOurOwnGroupIsInReach) {
  dress(at("mount/slice/base"));
  dress(at("mount/slice/base/service"));

  EXPECT_EQ(reach_objection(at("mount/slice/base"), places("0::/slice/base\n")), "");
  EXPECT_EQ(reach_objection(at("mount/slice/base"), places("0::/slice/base/service\n")), "");
}

TEST_F(DressedDirectoryTest, ABaseBesideUsNeedsTheDoorOfTheGroupAboveBoth) {
  dress(at("mount/slice/base"));
  dress(at("mount/slice/service"));
  const auto ours = places("0::/slice/service\n");

  EXPECT_THAT(reach_objection(at("mount/slice/base"), ours),
              HasSubstr(at("mount/slice/cgroup.procs")));

  dress(at("mount/slice"));
  EXPECT_EQ(reach_objection(at("mount/slice/base"), ours), "");
  if (::getuid() == 0) return;  // may write whatever the mode says
  ::chmod(at("mount/slice/cgroup.procs").c_str(), 0444);
  EXPECT_THAT(reach_objection(at("mount/slice/base"), ours), HasSubstr("Permission denied"));
}

TEST_F(DressedDirectoryTest, WhereOurOwnGroupCannotBeFoundEnteringDecides) {
  dress(at("mount/slice/base"));
  dress(at("elsewhere/base"));
  dress(at("mount/slice/service"));

  EXPECT_EQ(reach_objection(at("mount/slice/base"), places("4:memory:/slice/service\n")), "");
  EXPECT_EQ(reach_objection(at("mount/slice/base"), places("0::/slice/unseen\n")), "");
  EXPECT_EQ(reach_objection(at("elsewhere/base"), places("0::/slice/service\n")), "");
  EXPECT_EQ(reach_objection(at("mount/slice/base"), {.mount = at("mount"), .own = at("none")}), "");
}

// What the kernel itself says of a group to which nothing is passed on.
class RealBaseTest : public RealControlGroupTest {
 protected:
  void SetUp() override {
    RealControlGroupTest::SetUp();
    if (top_.empty()) return;
    ASSERT_EQ(::mkdir(at("base").c_str(), 0755), 0);
  }
};

// cases.md 147
TEST_F(RealBaseTest, AGroupWithoutControllersIsNoBase) {
  EXPECT_EQ(file_system_objection(at("base")), "");

  const auto base = detect_control_group_base(at("base"));

  EXPECT_EQ(base.path, "");
  EXPECT_THAT(base.reason,
              AllOf(HasSubstr(at("base")), HasSubstr("memory and pids"), IsOneLineWithTheHint()));
}

TEST_F(RealBaseTest, SlashesAtTheEndAndLinksOnTheWayMakeNoOtherBase) {
  const TemporaryDirectory elsewhere;
  ASSERT_EQ(::symlink(top_.c_str(), (elsewhere / "link").c_str()), 0);
  const auto plain = detect_control_group_base(at("base"));

  EXPECT_EQ(detect_control_group_base(at("base") + "//").reason, plain.reason);
  EXPECT_EQ(detect_control_group_base(elsewhere / "link/base/").reason, plain.reason);
}

// cases.md 152
TEST_F(RealBaseTest, OurOwnGroupIsTheBaseWhereNoneIsNamed) {
  const TemporaryDirectory elsewhere;
  const std::string own = elsewhere / "own";
  const ControlGroupPlaces places{.mount = top_, .own = own};

  write_text(own, "1:name=systemd:/\n");
  const auto version1 = detect_control_group_base("", places);
  write_text(own, "0::/base\n");
  const auto below = detect_control_group_base("", places);

  EXPECT_THAT(below.reason, IsOneLineWithTheHint());
  EXPECT_THAT(version1.reason, IsOneLineWithTheHint());
  EXPECT_THAT(below.path + version1.path, IsEmpty());
}

// The whole detection where ceilings can be had; elsewhere the parts above have to do.
class DelegatedBaseTest : public RealControlGroupTest {
 protected:
  void SetUp() override {
    RealControlGroupTest::SetUp();
    if (top_.empty() || ::testing::Test::HasFatalFailure()) return;
    const std::string objection = controllers_objection(top_);
    if (!objection.empty()) GTEST_SKIP() << objection;
  }
};

// cases.md 142, 143
TEST_F(DelegatedBaseTest, AnEmptyGroupWithControllersIsTheBaseAndStaysAsItWas) {
  const std::string before = text_of(at("cgroup.subtree_control"));

  const auto base = detect_control_group_base(top_ + "/");

  EXPECT_EQ(base.reason, "");
  EXPECT_EQ(base.path, top_);
  EXPECT_EQ(text_of(at("cgroup.subtree_control")), before);
}

// cases.md 145
TEST_F(DelegatedBaseTest, AProcessInItIsOneTooMany) {
  WaitingChild child;
  write_text(at("cgroup.procs"), std::to_string(child.pid()));

  EXPECT_THAT(detect_control_group_base(top_).reason,
              AllOf(HasSubstr("no-internal-process"), HasSubstr("1 process")));

  child.end();
  ASSERT_TRUE(becomes_empty(top_));
  EXPECT_EQ(detect_control_group_base(top_).reason, "");
}

}  // namespace
}  // namespace loom::host
