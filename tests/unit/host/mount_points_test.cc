#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "host/mount_table.h"

namespace loom::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(MountPointsTest, TheFifthFieldIsReadAndSorted) {
  const auto points = parse_mount_points(
      "36 35 98:0 /mnt1 /srv rw,noatime master:1 - ext3 /dev/root rw\n"
      "37 36 0:5 / /dev ro shared:2 - tmpfs tmpfs rw\n");

  EXPECT_THAT(points, ElementsAre("/dev", "/srv"));
}

TEST(MountPointsTest, OctalEscapesBecomeBytes) {
  const auto points = parse_mount_points(
      "1 0 0:1 / /a\\040b rw - t t rw\n"
      "2 0 0:1 / /c\\134d rw - t t rw\n"
      "3 0 0:1 / /e\\011f\\012g rw - t t rw\n"
      "4 0 0:1 / /h\\9i\\04 rw - t t rw\n");

  EXPECT_THAT(points, ElementsAre("/a b", "/c\\d", "/e\tf\ng", "/h\\9i\\04"));
}

TEST(MountPointsTest, ALineWithoutThatFieldAndAnEmptyTableYieldNothing) {
  EXPECT_THAT(parse_mount_points("1 0 0:1 /\n\n"), IsEmpty());
  EXPECT_THAT(parse_mount_points(""), IsEmpty());
}

TEST(MountPointsTest, OneOfTwoMountsOnTheSamePointIsMissed) {
  const std::vector<std::string> before{"/a", "/a", "/b"};

  EXPECT_THAT(lost_mount_points(before, {"/a", "/b", "/new"}), ElementsAre("/a"));
  EXPECT_THAT(lost_mount_points(before, before), IsEmpty());
  EXPECT_THAT(lost_mount_points(before, {}), ElementsAre("/a", "/a", "/b"));
}

TEST(MountPointsTest, OnlyThoseOfTheWantedTypeAreGiven) {
  constexpr std::string_view kTable =
      "24 1 0:22 / /sys rw - sysfs sysfs rw\n"
      "30 24 0:26 / /sys/fs/cgroup rw shared:9 master:2 - cgroup2 cgroup rw\n"
      "31 24 0:27 / /srv/a\\040b rw - cgroup2 none rw\n"
      "32 24 0:28 / /cgroup2 rw - tmpfs cgroup2 rw\n"
      "33 24 0:29 / /broken rw shared:9\n";
  EXPECT_THAT(mount_points_of_type(kTable, "cgroup2"), ElementsAre("/srv/a b", "/sys/fs/cgroup"));
  EXPECT_THAT(mount_points_of_type(kTable, "cgroup"), IsEmpty());
}

TEST(MountPointsTest, EachMountIsKnownByItsNumberWhateverItShows) {
  const NumberedPoints points = parse_numbered_points(
      "24 1 0:21 / /a\\040b rw - tmpfs none rw\n"
      "25 24 8:1 /gone//deleted /a\\040b ro - ext4 /dev/sda1 ro\n"
      "x 24 8:1 / /c ro - ext4 /dev/sda1 ro\n"
      "26 24\n");

  EXPECT_EQ(points, (NumberedPoints{{24, "/a b"}, {25, "/a b"}}));
}

}  // namespace
}  // namespace loom::host
