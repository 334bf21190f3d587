#include "guard/freeze.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "guard/placeholder.h"
#include "guard_support.h"
#include "host/path_survey.h"

namespace loom::guard {
namespace {

class FreezeTest : public ::testing::Test {
 protected:
  [[nodiscard]] Frozen frozen(std::string_view name) const { return freeze(path(tree_.at(name))); }

  // The directories above, below this tree's own: "/w /w/d!" where the last is a placeholder.
  [[nodiscard]] std::string above(const Frozen& found) const {
    const std::string base = tree_.at("");
    std::string text;
    std::string last;
    for (const DirectoryFact& directory : found.directories) {
      EXPECT_LT(last, directory.path.str()) << "sorted, each once";
      last = directory.path.str();
      if (last.size() <= base.size()) continue;
      EXPECT_EQ(directory.identity, tree_.identity(last.substr(base.size())));
      text += (text.empty() ? "" : " ") + last.substr(base.size());
      if (directory.placeholder) text += '!';
    }
    return text;
  }

  Tree tree_;
};

TEST_F(FreezeTest, AnExistingPathHasItsObjectItsParentAndTheDirectoriesAbove) {
  tree_.directory("/w/d/e");
  tree_.file("/w/d/e/f");

  const Frozen file = frozen("/w/d/e/f");
  const Frozen directory = frozen("/w/d/e");

  EXPECT_EQ(file.fact.kind, PathKind::kRegular);
  EXPECT_EQ(file.fact.identity, tree_.identity("/w/d/e/f"));
  EXPECT_EQ(file.fact.parent_identity, tree_.identity("/w/d/e"));
  EXPECT_EQ(above(file), "/w /w/d /w/d/e");
  EXPECT_EQ(directory.fact.kind, PathKind::kDirectory);
  EXPECT_EQ(directory.fact.parent_identity, tree_.identity("/w/d"));
  EXPECT_EQ(above(directory), "/w /w/d");
  EXPECT_EQ(file.directories.front().path, AbsolutePath::root());
}

TEST_F(FreezeTest, ALinkLeadsToTheDirectoriesOfItsTarget) {
  tree_.directory("/o/real/deep");
  tree_.file("/o/real/deep/f");
  tree_.directory("/w/links");
  tree_.link("../../o/real", "/w/links/l");

  const Frozen found = frozen("/w/links/l/deep/f");

  EXPECT_EQ(found.fact.real.str(), tree_.at("/o/real/deep/f"));
  EXPECT_EQ(above(found), "/o /o/real /o/real/deep");
  ASSERT_EQ(found.fact.links.size(), 1u);
  EXPECT_EQ(found.fact.links[0].place.str(), tree_.at("/w/links/l"));
}

TEST_F(FreezeTest, AMissingPathHasTheDirectoriesThatExist) {
  tree_.directory("/w/d");
  tree_.link("gone/below/../beside", "/w/d/l");

  EXPECT_EQ(above(frozen("/w/d/none")), "/w /w/d");
  EXPECT_EQ(above(frozen("/w/d/none/x/y")), "/w /w/d");
  const Frozen cleaned = frozen("/w/d/l/z");
  EXPECT_EQ(cleaned.fact.real.str(), tree_.at("/w/d/gone/beside/z"));
  EXPECT_EQ(cleaned.fact.error, ENOENT);
  EXPECT_EQ(above(cleaned), "/w /w/d");
}

TEST_F(FreezeTest, WhatFollowsAFailedStepIsCleanedAndMayClimb) {
  tree_.directory("/w/d");
  tree_.link("none/../../../o/f", "/w/d/l");

  const Frozen found = frozen("/w/d/l");

  EXPECT_EQ(found.fact.error, ENOENT);
  EXPECT_EQ(found.fact.real.str(), tree_.at("/o/f"));
  EXPECT_EQ(above(found), "") << "no directory that is not above the path";
}

// guard 0.8
TEST_F(FreezeTest, ProcfsAndDevicesAreToldAsWhatTheyAre) {
  const Frozen proc = freeze(path("/proc"));
  const Frozen below = freeze(path("/proc/" + std::to_string(::getpid()) + "/status"));
  const Frozen null = freeze(path("/dev/null"));

  EXPECT_EQ(proc.fact.kind, PathKind::kDirectory);
  EXPECT_EQ(below.fact.kind, PathKind::kRegular);
  EXPECT_EQ(null.fact.kind, PathKind::kOther);
}

TEST_F(FreezeTest, AMagicLinkIsAFailedStepAndNotWhereItsTextSays) {
  const Frozen self = freeze(path("/proc/self/status"));
  tree_.link("/proc/self/cwd", "/w/l");
  const Frozen led = frozen("/w/l/f");

  EXPECT_EQ(self.fact.kind, PathKind::kMissing);
  EXPECT_EQ(self.fact.error, ELOOP);
  EXPECT_EQ(self.fact.real.str(), "/proc/self/status");
  EXPECT_EQ(led.fact.kind, PathKind::kMissing);
  EXPECT_EQ(led.fact.real.str(), "/proc/self/cwd/f");
  EXPECT_EQ(led.fact.links.size(), 1u);
}

// guard 9.3: 60, for a policy's path
TEST_F(FreezeTest, SomebodyElsesLinkInASharedDirectoryIsAFailedStep) {
  if (::geteuid() != 0) GTEST_SKIP() << "it takes the superuser to make somebody else's link";
  tree_.directory("/w/st", 01777);
  tree_.file("/w/f");
  tree_.link("../f", "/w/st/theirs");
  tree_.link("../f", "/w/st/ours");
  ASSERT_EQ(::lchown(tree_.at("/w/st/theirs").c_str(), 12'345, 12'345), 0);

  const Frozen theirs = frozen("/w/st/theirs");

  EXPECT_EQ(theirs.fact.kind, PathKind::kMissing);
  EXPECT_EQ(theirs.fact.error, EACCES);
  EXPECT_EQ(theirs.fact.real.str(), tree_.at("/w/st/theirs"));
  EXPECT_EQ(frozen("/w/st/ours").fact.real.str(), tree_.at("/w/f"));
}

TEST_F(FreezeTest, APathTooDeepForAWalkIsAFactToo) {
  std::string name = "/w";
  for (int depth = 0; depth < 300; ++depth) tree_.directory(name += "/d");

  const Frozen found = frozen(name);

  EXPECT_EQ(found.fact.kind, PathKind::kMissing);
  EXPECT_EQ(found.fact.error, ENAMETOOLONG);
  EXPECT_EQ(found.fact.real, found.fact.path);
  EXPECT_EQ(found.directories.size(), 256u);
}

// guard D12
TEST_F(FreezeTest, APlaceholderCountsAsMissingAndKeepsItsIdentity) {
  tree_.directory("/w/way/leaf");
  const FileIdentity leaf = tree_.identity("/w/way/leaf");
  tree_.directory("/w/way/leaf", kLeafMode);
  tree_.directory("/w/way", kIntermediateMode);

  for (const char* name : {"/w/way/leaf", "/w/way"}) {
    const Frozen found = frozen(name);
    EXPECT_EQ(found.fact.kind, PathKind::kMissing) << name;
    EXPECT_EQ(found.fact.error, ENOENT) << name;
    EXPECT_EQ(found.fact.link_count, 0u) << name;
    EXPECT_EQ(found.fact.identity, tree_.identity(name)) << name;
  }
  EXPECT_EQ(frozen("/w/way/leaf").fact.identity, leaf);
  EXPECT_EQ(frozen("/w/way/leaf").fact.parent_identity, tree_.identity("/w/way"));
  EXPECT_EQ(above(frozen("/w/way/leaf")), "/w /w/way!");
  EXPECT_EQ(above(frozen("/w/way/leaf/below/it")), "/w /w/way! /w/way/leaf!");
  const Frozen beside = frozen("/w/way/beside");
  EXPECT_EQ(beside.fact.error, ENOENT);
  EXPECT_EQ(beside.fact.identity, FileIdentity{});
  EXPECT_EQ(beside.fact.parent_identity, tree_.identity("/w/way"));

  tree_.file("/w/way/file", "");
  EXPECT_EQ(frozen("/w/way").fact.kind, PathKind::kDirectory) << "it holds something now";
  EXPECT_EQ(above(frozen("/w/way/leaf")), "/w /w/way");
  EXPECT_EQ(frozen("/w/way/leaf").fact.kind, PathKind::kMissing);
}

TEST_F(FreezeTest, BelowAPlaceholderEverythingIsMissingToAnOrdinaryUserToo) {
  const OrdinaryUser ordinary;
  const Tree own;
  own.directory("/w/leaf", kLeafMode);
  own.link(".", "/w/here");
  for (const char* name : {"/w/leaf/x", "/w/here/leaf/x", "/w/leaf/x/y"}) {
    for (const PathFact& fact :
         {freeze(path(own.at(name))).fact, host::survey_path(path(own.at(name)))}) {
      EXPECT_EQ(fact.kind, PathKind::kMissing) << name;
      EXPECT_EQ(fact.error, ENOENT) << name << ": not for want of the right to search it";
    }
  }
}

TEST_F(FreezeTest, ARealPathIsWalkedAsTheKernelWould) {
  tree_.directory("/w/real/sub");
  tree_.link("real/sub", "/w/l");

  const auto real = [this](std::string_view name) { return real_path(tree_.at(name))->str(); };
  EXPECT_EQ(real("/w/l/../f"), tree_.at("/w/real/f"));
  EXPECT_EQ(real("/w/l/none/../x"), tree_.at("/w/real/sub/x"));
  EXPECT_EQ(real("/w/./l//"), tree_.at("/w/real/sub"));
  EXPECT_FALSE(real_path("relative/.."));
  EXPECT_FALSE(real_path(""));
  const std::string too_long = "/" + std::string(5'000, 'x') + "/../y";
  EXPECT_EQ(real_path(too_long)->str(), "/y");
}

}  // namespace
}  // namespace loom::guard
