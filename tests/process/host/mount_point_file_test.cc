#include "host/mount_point_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

#include "process_support.h"
#include "tests/support/promised.h"

namespace loom::host {
namespace {

namespace fs = std::filesystem;

class MountPointFileTest : public ::testing::Test {
 protected:
  // As bubblewrap does: creat(2) with its umask of 0.
  void make(const std::string& content = {}, mode_t mode = 0444) {
    std::ofstream(file_) << content;
    ASSERT_EQ(::chmod(file_.c_str(), mode), 0);
  }

  [[nodiscard]] bool removed() const {
    const bool said = remove_mount_point_file(AbsolutePath::parse(file_).value(), since_, until_);
    EXPECT_EQ(said, !fs::exists(fs::symlink_status(file_)));
    return said;
  }

  [[nodiscard]] std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(directory_.str()), fs::directory_iterator()));
  }

  TemporaryDirectory directory_;
  std::string file_ = directory_ / "name";
  timespec since_ = earliest_birth_from_now();
  std::optional<timespec> until_;
};

TEST_F(MountPointFileTest, WhatALauncherMadeGoesAndNothingElseAppears) {
  make();
  EXPECT_TRUE(removed());
  EXPECT_EQ(entries(), 0U);
  EXPECT_FALSE(remove_mount_point_file(AbsolutePath::parse(file_).value(), since_, until_));
}

TEST_F(MountPointFileTest, AFileOfAnotherModeStays) {
  for (const mode_t mode : {0644U, 0400U, 0555U, 01444U}) {
    make({}, mode);
    EXPECT_FALSE(removed()) << std::oct << mode;
    ASSERT_EQ(::unlink(file_.c_str()), 0);
  }
}

TEST_F(MountPointFileTest, AFileThatHoldsSomethingStays) {
  make("x");
  EXPECT_FALSE(removed());
}

TEST_F(MountPointFileTest, AFileWithAnotherNameStays) {
  make();
  ASSERT_EQ(::link(file_.c_str(), (directory_ / "other").c_str()), 0);
  EXPECT_FALSE(removed());
}

TEST_F(MountPointFileTest, AFileThatWasThereBeforeStays) {
  make();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // two ticks of that clock
  since_ = earliest_birth_from_now();
  EXPECT_FALSE(removed());
}

TEST_F(MountPointFileTest, BetweenTheTwoClocksLiesEveryFileThatWasMadeThere) {
  for (int i = 0; i < 200; ++i) {
    since_ = earliest_birth_from_now();
    make();
    until_ = latest_birth_until_now();
    EXPECT_TRUE(removed()) << i;
  }
}

TEST_F(MountPointFileTest, AFileThatCameAfterTheMountsStays) {
  until_ = latest_birth_until_now();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  make();
  EXPECT_FALSE(removed());
  until_ = latest_birth_until_now();
  EXPECT_TRUE(removed());
}

TEST_F(MountPointFileTest, OtherKindsStay) {
  ASSERT_EQ(::mkdir(file_.c_str(), 0444), 0);
  EXPECT_FALSE(removed());
  ASSERT_EQ(::rmdir(file_.c_str()), 0);
  const std::string empty = directory_ / "empty";
  std::ofstream(empty).flush();
  ASSERT_EQ(::chmod(empty.c_str(), 0444), 0);
  ASSERT_EQ(::symlink("empty", file_.c_str()), 0);
  EXPECT_FALSE(removed());
  EXPECT_TRUE(fs::exists(empty));
}

TEST_F(MountPointFileTest, AnotherUsersStays) {
  if (::geteuid() != 0) LOOM_SKIP_UNLESS_PROMISED("only the superuser gives a file away");
  make();
  ASSERT_EQ(::chown(file_.c_str(), 65'534, 65'534), 0);
  EXPECT_FALSE(removed());
}

TEST_F(MountPointFileTest, NothingIsDoneThroughALinkOnTheWay) {
  make();
  const std::string link = directory_ / "link";
  ASSERT_EQ(::symlink(".", link.c_str()), 0);
  EXPECT_FALSE(
      remove_mount_point_file(AbsolutePath::parse(link + "/name").value(), since_, until_));
  EXPECT_TRUE(fs::exists(file_));
}

}  // namespace
}  // namespace loom::host
