#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <loom/other_names.h>

#include <string>
#include <vector>

namespace loom {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

AbsolutePath path(const std::string& text) { return *AbsolutePath::parse(text); }

MountFact mount(const std::string& point, const std::string& root, const std::string& device) {
  return {.point = path(point), .root = path(root), .device = device};
}

std::vector<std::string> names(const std::vector<MountFact>& mounts, const std::string& real) {
  std::vector<std::string> texts;
  for (const OtherName& name : MountNames(mounts).of(path(real))) {
    texts.push_back((name.part ? "part at " : "") + name.path.str());
  }
  return texts;
}

TEST(MovedTest, TheRestOfAPathIsKept) {
  EXPECT_EQ(moved(path("/a/b/c"), path("/a"), path("/x")).str(), "/x/b/c");
  EXPECT_EQ(moved(path("/a/b"), path("/"), path("/x")).str(), "/x/a/b");
  EXPECT_EQ(moved(path("/a/b"), path("/a"), path("/")).str(), "/b");
  EXPECT_EQ(moved(path("/a"), path("/a"), path("/x/y")).str(), "/x/y");
  EXPECT_EQ(moved(path("/"), path("/"), path("/x")).str(), "/x");
  EXPECT_EQ(moved(path("/a"), path("/"), path("/")).str(), "/a");
}

// guard 9.7: 130
TEST(MountNamesTest, ABindMountOfADirectoryGivesASecondNameToWhatLiesInIt) {
  const std::vector<MountFact> mounts = {mount("/", "/", "8:1"), mount("/y", "/x", "8:1")};
  EXPECT_THAT(names(mounts, "/x/k"), ElementsAre("/y/k"));
  EXPECT_THAT(names(mounts, "/y/k"), ElementsAre("/x/k"));
  EXPECT_THAT(names(mounts, "/x"), ElementsAre("/y"));
  EXPECT_THAT(names(mounts, "/z/k"), IsEmpty());
  EXPECT_THAT(names({}, "/x/k"), IsEmpty());
}

TEST(MountNamesTest, EveryMountOfTheFileSystemIsSearchedAndNoOtherIs) {
  const std::vector<MountFact> mounts = {
      mount("/", "/", "8:1"), mount("/home", "/", "8:2"), mount("/srv/a", "/u", "8:2"),
      mount("/srv/b", "/u/deep/er", "8:2"), mount("/srv/c", "/u", "8:1")};
  EXPECT_THAT(names(mounts, "/home/u/deep/er/k"), ElementsAre("/srv/a/deep/er/k", "/srv/b/k"));
  EXPECT_THAT(names(mounts, "/u/deep"), ElementsAre("/srv/c/deep"));
}

TEST(MountNamesTest, AMountOfWhatLiesInsideShowsAPart) {
  const std::vector<MountFact> mounts = {mount("/", "/", "8:1"), mount("/y", "/x/sub/dir", "8:1"),
                                         mount("/f", "/x/file", "8:1")};
  EXPECT_THAT(names(mounts, "/x"), ElementsAre("part at /f", "part at /y"));
  EXPECT_THAT(names(mounts, "/x/sub"), ElementsAre("part at /y"));
  EXPECT_THAT(names(mounts, "/x/file"), ElementsAre("/f"));
}

TEST(MountNamesTest, ANameThatAnotherMountCoversIsNone) {
  const std::vector<MountFact> mounts = {mount("/", "/", "8:1"), mount("/y", "/x", "8:1"),
                                         mount("/y/a", "/", "0:50")};
  EXPECT_THAT(names(mounts, "/x/a/k"), IsEmpty());
  EXPECT_THAT(names(mounts, "/x/b/k"), ElementsAre("/y/b/k"));
  // What really lies at /y/a/k is on another file system.
  EXPECT_THAT(names(mounts, "/y/a/k"), IsEmpty());
}

TEST(MountNamesTest, WhatLiesBelowTheObjectItselfIsCoveredByIt) {
  const std::vector<MountFact> mounts = {mount("/", "/", "8:1"), mount("/x/again", "/x/k", "8:1")};
  EXPECT_THAT(names(mounts, "/x"), IsEmpty());
  EXPECT_THAT(names(mounts, "/x/k"), ElementsAre("/x/again"));
}

TEST(MountNamesTest, AbsentPathsHaveOtherNamesToo) {
  const std::vector<MountFact> mounts = {mount("/w", "/data", "8:1"), mount("/v", "/data", "8:1")};
  EXPECT_THAT(names(mounts, "/w/not/there"), ElementsAre("/v/not/there"));
  // No mount of the table covers it.
  EXPECT_THAT(names(mounts, "/elsewhere"), IsEmpty());
}

}  // namespace
}  // namespace loom
