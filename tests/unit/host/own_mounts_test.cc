#include "host/own_mounts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace loom::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

AbsolutePath path(const std::string& text) { return *AbsolutePath::parse(text); }

ReachableMounts reachable(std::string_view table) {
  return ReachableMounts(parse_mount_rows(table));
}

std::vector<std::string> points(const ReachableMounts& mounts) {
  std::vector<std::string> texts;
  for (const MountRow& row : mounts.rows()) texts.push_back(row.point.str());
  return texts;
}

std::vector<std::string> shown_again(const ReachableMounts& mounts,
                                     const std::vector<std::string>& reals) {
  std::vector<AbsolutePath> asked;
  for (const std::string& real : reals) asked.push_back(path(real));
  std::vector<std::string> texts;
  for (const MountFact& fact : mounts.that_may_show_again(asked)) {
    texts.push_back(fact.point.str() + " shows " + fact.root.str() + " of " + fact.device);
  }
  return texts;
}

TEST(MountRowsTest, FieldsAreReadAndEscapesUndone) {
  const auto rows = parse_mount_rows(
      "36 35 98:0 /a\\040b /srv/c\\134d rw,noatime master:1 shared:7 - ext4 /dev/root rw\n"
      "37 36 0:4 net:[4026532281] /run/netns/x rw - nsfs nsfs rw\n");

  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0], (MountRow{.id = 36,
                               .parent = 35,
                               .device = "98:0",
                               .root = path("/a b"),
                               .point = path("/srv/c\\d"),
                               .type = "ext4"}));
  EXPECT_EQ(rows[1].root.str(), "/net:[4026532281]");
}

TEST(MountRowsTest, WhatWasRemovedOrIsCutShortIsLeftOut) {
  EXPECT_THAT(parse_mount_rows("1 0 8:1 /a//deleted /b rw - ext4 x rw\n"
                               "2 0 8:1 /a /b//deleted rw - ext4 x rw\n"
                               "3 0 8:1 /a\n"
                               "x 0 8:1 /a /b rw - ext4 x rw\n\n"),
              IsEmpty());
}

TEST(ReachableMountsTest, WhatAnotherMountCoversIsNotReached) {
  const auto mounts = reachable(
      "10 1 8:1 / / rw - ext4 a rw\n"
      "11 10 8:2 / /a/b rw - ext4 b rw\n"  // covered by what was mounted on /a afterwards
      "12 10 8:3 / /a rw - ext4 c rw\n"
      "13 12 8:4 / /a/b rw - ext4 d rw\n"
      "14 13 8:5 / /a/b rw - ext4 e rw\n"  // on top of 13
      "15 10 8:6 / /c rw - ext4 f rw\n");

  EXPECT_THAT(points(mounts), ElementsAre("/", "/a", "/a/b", "/c"));
  EXPECT_EQ(mounts.around(path("/a/b/x"))->device, "8:5");
  EXPECT_EQ(mounts.around(path("/a/bx"))->device, "8:3");
  EXPECT_EQ(mounts.around(path("/d"))->device, "8:1");
}

TEST(ReachableMountsTest, ATableWithoutARootServesWhatItHas) {
  const auto mounts = reachable("11 10 8:2 / /a rw - ext4 b rw\n");
  EXPECT_THAT(points(mounts), ElementsAre("/a"));
  EXPECT_EQ(mounts.around(path("/b")), nullptr);
}

TEST(ReachableMountsTest, NothingIsAskedForWhereEachFileSystemIsMountedOnce) {
  const auto once = reachable(
      "10 1 8:1 / / rw - ext4 a rw\n"
      "11 10 8:2 / /home rw - ext4 b rw\n");
  EXPECT_THAT(shown_again(once, {"/home/u/.ssh", "/etc/x"}), IsEmpty());

  const auto twice = reachable(
      "10 1 8:1 / / rw - ext4 a rw\n"
      "11 10 8:2 / /home rw - ext4 b rw\n"
      "12 10 8:2 /u /srv/u rw - ext4 b rw\n"
      "13 12 0:9 / /srv/u/cache rw - tmpfs t rw\n"
      "14 10 0:8 / /var rw - tmpfs t rw\n");
  EXPECT_THAT(
      shown_again(twice, {"/home/u/.ssh"}),
      ElementsAre("/home shows / of 8:2", "/srv/u shows /u of 8:2", "/srv/u/cache shows / of 0:9"));
  EXPECT_THAT(shown_again(twice, {"/etc/x", "/var/x"}), IsEmpty());
}

TEST(ReachableMountsTest, AServerOnTheWayIsNoticedAndTheFileSystemInQuestionIsNot) {
  const auto mounts = reachable(
      "10 1 8:1 / / rw - ext4 a rw\n"
      "11 10 0:40 / /net rw - nfs4 server:/ rw\n"
      "12 11 8:1 /x /net/deep/x rw - ext4 a rw\n"
      "13 10 8:1 /x /near rw - ext4 a rw\n"
      "14 10 0:41 / /f rw - fuse.sshfs s rw\n"
      "15 10 0:41 /d /g rw - fuse.sshfs s rw\n");
  EXPECT_TRUE(mounts.may_block_more(path("/net/deep/x/k"), path("/x/k")));
  EXPECT_FALSE(mounts.may_block_more(path("/near/k"), path("/x/k")));
  EXPECT_TRUE(mounts.may_block_more(path("/g/k"), path("/x/k")));
  EXPECT_FALSE(mounts.may_block_more(path("/g/k"), path("/f/d/k")));
}

TEST(OwnMountsTest, TheTableOfThisProcessIsReadAndAsLongAsNothingChangesKept) {
  OwnMounts own;
  const auto first = own.now();
  ASSERT_TRUE(first) << first.error().message;
  ASSERT_NE((*first)->around(path("/proc/self/mountinfo")), nullptr);
  EXPECT_EQ((*first)->around(path("/proc/self/mountinfo"))->type, "proc");
  const MountRow* const kept = (*first)->rows().data();
  const auto second = own.now();
  ASSERT_TRUE(second);
  EXPECT_EQ((*second)->rows().data(), kept);
}

}  // namespace
}  // namespace loom::host
