#include "host/path_survey.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <string>
#include <vector>

#include "guard/placeholder.h"
#include "process_support.h"

namespace loom::host {
namespace {

AbsolutePath path(const std::string& text) { return *AbsolutePath::parse(text); }

FileIdentity identity(const std::string& text) {
  struct stat about {};
  EXPECT_EQ(::lstat(text.c_str(), &about), 0) << text;
  return FileIdentity{.device = about.st_dev, .inode = about.st_ino};
}

class PathSurveyTest : public ::testing::Test {
 protected:
  PathSurveyTest() {
    std::filesystem::create_directories(at("dir/sub"));
    std::ofstream(at("dir/file")) << "x";
  }

  std::string at(const std::string& name) const { return directory_ / name; }
  PathFact survey(const std::string& name) const { return survey_path(path(at(name))); }
  void link(const std::string& target, const std::string& name) const {
    ASSERT_EQ(::symlink(target.c_str(), at(name).c_str()), 0);
  }
  void expect_missing(const PathFact& fact, const std::string& real, int error) const {
    EXPECT_EQ(fact.kind, PathKind::kMissing);
    EXPECT_EQ(fact.error, error);
    EXPECT_EQ(fact.real.str(), real);
    EXPECT_EQ(fact.identity, FileIdentity{});
    EXPECT_EQ(fact.link_count, 0u);
  }

  TemporaryDirectory directory_;
};

TEST_F(PathSurveyTest, AFileWithoutLinksIsItsOwnRealPath) {
  const auto fact = survey("dir/file");

  EXPECT_EQ(fact.path, fact.real);
  EXPECT_EQ(fact.kind, PathKind::kRegular);
  EXPECT_EQ(fact.identity, identity(at("dir/file")));
  EXPECT_EQ(fact.parent_identity, identity(at("dir")));
  EXPECT_EQ(fact.link_count, 1u);
  EXPECT_EQ(fact.error, 0);
  EXPECT_TRUE(fact.links.empty());
}

TEST_F(PathSurveyTest, PathsLookedAtTogetherHaveTheFactsOfEachAlone) {
  std::filesystem::create_directories(at("other"));
  link("dir/file", "first");
  link("other/nothing", "second");
  link("dir", "third");
  PathSurveyor surveyor;
  for (const char* name : {"dir/file", "dir/sub", "other", "first", "second", "dir/file", "third",
                           "third/file", "gone/file", "dir/gone", "other", "dir/file/below"}) {
    EXPECT_EQ(surveyor.look(path(at(name))), survey(name)) << name;
  }
  EXPECT_EQ(surveyor.look(AbsolutePath::root()), survey_path(AbsolutePath::root()));
  EXPECT_EQ(surveyor.look(path("/proc")), survey_path(path("/proc")));
}

TEST_F(PathSurveyTest, ADirectoryAndTheRootKnowTheirParents) {
  const auto sub = survey("dir/sub");
  const auto root = survey_path(AbsolutePath::root());

  EXPECT_EQ(sub.kind, PathKind::kDirectory);
  EXPECT_EQ(sub.parent_identity, identity(at("dir")));
  EXPECT_EQ(root.kind, PathKind::kDirectory);
  EXPECT_EQ(root.identity, identity("/"));
  EXPECT_EQ(root.parent_identity, identity("/"));
}

TEST_F(PathSurveyTest, HardLinksAreCounted) {
  ASSERT_EQ(::link(at("dir/file").c_str(), at("second").c_str()), 0);

  EXPECT_EQ(survey("second").link_count, 2u);
}

TEST_F(PathSurveyTest, AMissingNameKeepsItsParentAndAMissingParentIsZero) {
  const auto leaf = survey("dir/none");
  const auto deep = survey("dir/none/deeper");
  const auto below_file = survey("dir/file/x");

  expect_missing(leaf, at("dir/none"), ENOENT);
  EXPECT_EQ(leaf.parent_identity, identity(at("dir")));
  expect_missing(deep, at("dir/none/deeper"), ENOENT);
  EXPECT_EQ(deep.parent_identity, FileIdentity{});
  expect_missing(below_file, at("dir/file/x"), ENOTDIR);
  EXPECT_EQ(below_file.parent_identity, FileIdentity{});
}

TEST_F(PathSurveyTest, LinksAreFollowedAndRecordedInOrder) {
  link("dir", "first");
  link(at("first/sub"), "second");
  link("../second", "dir/third");

  const auto fact = survey("first/third");

  EXPECT_EQ(fact.real.str(), at("dir/sub"));
  EXPECT_EQ(fact.kind, PathKind::kDirectory);
  EXPECT_EQ(fact.identity, identity(at("dir/sub")));
  EXPECT_EQ(fact.parent_identity, identity(at("dir")));
  ASSERT_EQ(fact.links.size(), 4u);
  EXPECT_EQ(fact.links[0], (LinkFact{.place = path(at("first")), .target = "dir"}));
  EXPECT_EQ(fact.links[1], (LinkFact{.place = path(at("dir/third")), .target = "../second"}));
  EXPECT_EQ(fact.links[2], (LinkFact{.place = path(at("second")), .target = at("first/sub")}));
  EXPECT_EQ(fact.links[3], (LinkFact{.place = path(at("first")), .target = "dir"}));
}

TEST_F(PathSurveyTest, DotDotInATargetLeavesTheRealDirectory) {
  std::filesystem::create_directories(at("other/place"));
  link(at("other/place"), "jump");
  link("jump/..", "up");

  const auto fact = survey("up");

  EXPECT_EQ(fact.real.str(), at("other"));
  EXPECT_EQ(fact.identity, identity(at("other")));
  EXPECT_EQ(fact.parent_identity, identity(directory_.str()));
}

TEST_F(PathSurveyTest, DotDotStopsAtTheRoot) {
  link("../../../../../../../../../../../../..", "top");

  const auto fact = survey("top");

  EXPECT_EQ(fact.real.str(), "/");
  EXPECT_EQ(fact.identity, identity("/"));
  EXPECT_EQ(fact.parent_identity, identity("/"));
}

TEST_F(PathSurveyTest, ADanglingLinkLeadsToTheDeepestPrefixAndTheRest) {
  link("dir/none/deeper", "dangling");
  link("dir/none", "shallow");

  const auto deep = survey("dangling/x");
  const auto shallow = survey("shallow");

  expect_missing(deep, at("dir/none/deeper/x"), ENOENT);
  EXPECT_EQ(deep.parent_identity, FileIdentity{});
  EXPECT_EQ(deep.links.size(), 1u);
  expect_missing(shallow, at("dir/none"), ENOENT);
  EXPECT_EQ(shallow.parent_identity, identity(at("dir")));
}

TEST_F(PathSurveyTest, ALoopOfLinksEnds) {
  link("b", "a");
  link("a", "b");

  const auto fact = survey("a");

  EXPECT_EQ(fact.error, ELOOP);
  EXPECT_EQ(fact.kind, PathKind::kMissing);
  EXPECT_EQ(fact.links.size(), 40u);
}

TEST_F(PathSurveyTest, FortyLinksAreFollowedAndFortyOneAreNot) {
  link("dir", "l1");
  for (int i = 2; i <= 41; ++i) link("l" + std::to_string(i - 1), "l" + std::to_string(i));

  const auto forty = survey("l40");
  const auto more = survey("l41");

  EXPECT_EQ(forty.real.str(), at("dir"));
  EXPECT_EQ(forty.error, 0);
  EXPECT_EQ(more.error, ELOOP);
  EXPECT_EQ(::access(at("l40").c_str(), F_OK), 0) << "the kernel's own limit is the same";
  EXPECT_EQ(::access(at("l41").c_str(), F_OK), -1);
}

TEST_F(PathSurveyTest, ATargetWithATrailingSlashMustBeADirectory) {
  link("dir/file/", "file_as_directory");
  link("dir//sub/./", "untidy");

  EXPECT_EQ(survey("file_as_directory").error, ENOTDIR);
  EXPECT_EQ(survey("untidy").real.str(), at("dir/sub"));
}

TEST_F(PathSurveyTest, AFifoIsLookedAtWithoutWaiting) {
  ASSERT_EQ(::mkfifo(at("fifo").c_str(), 0600), 0);
  link("fifo", "to_fifo");
  ::alarm(5);  // ends the test program if one of them waits

  const auto direct = survey("fifo");
  const auto linked = survey("to_fifo");
  ::alarm(0);

  EXPECT_EQ(direct.kind, PathKind::kOther);
  EXPECT_EQ(linked.kind, PathKind::kOther);
  EXPECT_EQ(linked.real.str(), at("fifo"));
}

TEST_F(PathSurveyTest, ASurveyLeavesNoDescriptorOpen) {
  link("dir", "link");
  const std::size_t before = open_descriptors();

  (void)survey("link/sub");
  (void)survey("dir/file");
  (void)survey("link/none/x");

  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(PathSurveyTest, TheDirectoriesAboveTheRealPathsAreListedOnceAndInOrder) {
  std::filesystem::create_directories(at("other/deep"));
  std::filesystem::create_directories(at("links"));
  link("../other/deep", "links/l");
  PathSurveyor surveyor;
  for (const char* name :
       {"other/none/x", "dir/file", "dir/sub", "dir/none", "links/l/y", "dir/file/x"}) {
    (void)surveyor.look(path(at(name)));
  }

  const auto found = surveyor.directories();

  std::vector<std::string> below;
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].identity, identity(found[i].path.str()));
    EXPECT_FALSE(found[i].placeholder);
    if (i > 0) {
      EXPECT_LT(found[i - 1].path, found[i].path);
    }
    if (found[i].path.str().size() > directory_.str().size()) {
      below.push_back(found[i].path.str().substr(directory_.str().size()));
    }
  }
  EXPECT_EQ(below, (std::vector<std::string>{"/dir", "/other", "/other/deep"}));
  EXPECT_EQ(found.front().path, AbsolutePath::root());
  EXPECT_EQ(found.size(), 3u +
                              static_cast<std::size_t>(std::count(directory_.str().begin(),
                                                                  directory_.str().end(), '/')) +
                              1u);
  EXPECT_EQ(surveyor.directories(), found) << "asking again changes nothing";
}

TEST_F(PathSurveyTest, TheRootHasNoDirectoryAbove) {
  PathSurveyor surveyor;
  (void)surveyor.look(AbsolutePath::root());
  EXPECT_TRUE(surveyor.directories().empty());
  (void)surveyor.look(path("/no-such-name"));
  ASSERT_EQ(surveyor.directories().size(), 1u);
}

TEST_F(PathSurveyTest, APlaceholderCountsAsMissingWhetherALinkIsOnTheWayOrNot) {
  std::filesystem::create_directories(at("dir/way/leaf"));
  ASSERT_EQ(::chmod(at("dir/way/leaf").c_str(), guard::kLeafMode), 0);
  ASSERT_EQ(::chmod(at("dir/way").c_str(), guard::kIntermediateMode), 0);
  link("dir", "there");
  link("dir/way/leaf", "to_leaf");
  for (const char* name : {"dir/way", "dir/way/leaf", "there/way", "there/way/leaf", "to_leaf"}) {
    SCOPED_TRACE(name);
    const auto fact = survey(name);
    EXPECT_EQ(fact.kind, PathKind::kMissing);
    EXPECT_EQ(fact.error, ENOENT);
    EXPECT_EQ(fact.identity, identity(fact.real.str()));
    EXPECT_EQ(fact.parent_identity, identity(fact.real.parent().str()));
    EXPECT_EQ(fact.link_count, 0u);
  }
  for (const char* name : {"dir/way/leaf/x", "there/way/leaf/x", "to_leaf/x", "dir/way/none"}) {
    SCOPED_TRACE(name);
    const auto fact = survey(name);
    expect_missing(fact, fact.real.str(), ENOENT);
    EXPECT_EQ(fact.parent_identity, identity(fact.real.parent().str()));
  }
  for (const char* name : {"dir/way/leaf/x/y", "there/way/leaf/x/y", "to_leaf/x/y"}) {
    SCOPED_TRACE(name);  // nobody but the superuser may search in a leaf
    const auto fact = survey(name);
    expect_missing(fact, fact.real.str(), ENOENT);
  }
  PathSurveyor surveyor;
  (void)surveyor.look(path(at("dir/way/leaf/x")));
  (void)surveyor.look(path(at("dir/way/leaf/x/y")));
  std::vector<std::string> marked;
  for (const DirectoryFact& each : surveyor.directories()) {
    if (each.placeholder) marked.push_back(each.path.str());
  }
  EXPECT_EQ(marked, (std::vector<std::string>{at("dir/way"), at("dir/way/leaf")}));
}

TEST_F(PathSurveyTest, AMarkedDirectoryThatHoldsSomethingIsADirectory) {
  std::filesystem::create_directories(at("dir/way/leaf"));
  std::ofstream(at("dir/way/file")) << "x";
  ASSERT_EQ(::chmod(at("dir/way/leaf").c_str(), guard::kLeafMode), 0);
  ASSERT_EQ(::chmod(at("dir/way").c_str(), guard::kIntermediateMode), 0);

  EXPECT_EQ(survey("dir/way").kind, PathKind::kDirectory);
  EXPECT_EQ(survey("dir/way/file").kind, PathKind::kRegular);
  EXPECT_EQ(survey("dir/way/leaf").kind, PathKind::kMissing);
}

TEST_F(PathSurveyTest, NoLinkOfProcfsIsFollowedAndProcfsItselfIsToldAsItIs) {
  for (const char* name : {"/proc/self", "/proc/self/status", "/proc/self/cwd"}) {
    const auto fact = survey_path(path(name));
    expect_missing(fact, name, ELOOP);
  }
  EXPECT_EQ(survey_path(path("/proc")).kind, PathKind::kDirectory);
  EXPECT_EQ(survey_path(path("/proc/cpuinfo")).kind, PathKind::kRegular);
}

// guard 2.5, 9.3: 60
TEST_F(PathSurveyTest, SomebodyElsesLinkInASharedDirectoryIsNotFollowed) {
  if (::geteuid() != 0) GTEST_SKIP() << "it takes the superuser to make somebody else's link";
  std::filesystem::create_directories(at("shared"));
  ASSERT_EQ(::chmod(at("shared").c_str(), 01777), 0);
  link("../dir/file", "shared/theirs");
  link("../dir/file", "shared/ours");
  link(at("dir/file"), "shared/theirs_whole");
  for (const char* name : {"shared/theirs", "shared/theirs_whole"}) {
    ASSERT_EQ(::lchown(at(name).c_str(), 12'345, 12'345), 0);
    expect_missing(survey(name), at(name), EACCES);
  }
  EXPECT_EQ(survey("shared/ours").real.str(), at("dir/file"));
}

// The walk and the shortcut must not differ where both can answer: the shortcut declines every path
// that holds a link, so one link in front of the same tree forces the walk.
TEST_F(PathSurveyTest, TheWalkAndTheShortcutAgree) {
  link(".", "here");
  for (const char* name : {"dir", "dir/sub", "dir/file", "dir/none", "dir/none/x", "dir/file/x"}) {
    SCOPED_TRACE(name);
    const auto shortcut = survey(name);
    const auto walked = survey(std::string("here/") + name);

    EXPECT_EQ(walked.real, shortcut.real);
    EXPECT_EQ(walked.kind, shortcut.kind);
    EXPECT_EQ(walked.identity, shortcut.identity);
    EXPECT_EQ(walked.parent_identity, shortcut.parent_identity);
    EXPECT_EQ(walked.link_count, shortcut.link_count);
    EXPECT_EQ(walked.error, shortcut.error);
  }
}

}  // namespace
}  // namespace loom::host
