// Programs that are executed by their path: what has the name must be what was chosen.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "host/pinned_program.h"
#include "host/program_handle.h"
#include "process_support.h"

namespace loom::host {
namespace {

using ::testing::HasSubstr;

class PinnedByPathTest : public ::testing::Test {
 protected:
  PinnedByPathTest() { std::filesystem::copy_file(LOOM_CHILD_PROBE, path_); }

  [[nodiscard]] PinnedProgram pinned() const {
    PinnedProgram program = find_stage2(path_);
    EXPECT_TRUE(program.handle) << program.fact.reason;
    EXPECT_TRUE(seal_stage2(program));
    EXPECT_FALSE(program.sealed);
    take_digest(program);
    EXPECT_FALSE(program.digest.empty());
    return program;
  }
  static void expect_refused(PinnedProgram& program) {
    const auto checked = check_pin(program);
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().code, ErrorCode::kDenied);
    EXPECT_THAT(checked.error().message, HasSubstr("pin_changed"));
  }

  TemporaryDirectory place_;
  std::string path_ = place_ / "program";
};

TEST_F(PinnedByPathTest, WhatNobodyTouchedIsWhatWasPinned) {
  PinnedProgram program = pinned();

  EXPECT_TRUE(runs_by_path());
  EXPECT_TRUE(check_pin(program));
  EXPECT_EQ(program.fact.path, path_);
}

TEST_F(PinnedByPathTest, ANameThatLeadsToAnotherIsRefused) {
  PinnedProgram program = pinned();
  std::filesystem::copy_file(LOOM_CHILD_PROBE, place_ / "other");

  std::filesystem::rename(place_ / "other", path_);

  expect_refused(program);
}

TEST_F(PinnedByPathTest, ANameThatIsGoneIsRefused) {
  PinnedProgram program = pinned();

  std::filesystem::remove(path_);

  expect_refused(program);
}

TEST_F(PinnedByPathTest, ARewriteIsRefusedAndANewDateIsRemembered) {
  PinnedProgram program = pinned();
  std::filesystem::last_write_time(path_, std::filesystem::file_time_type::clock::now());
  EXPECT_TRUE(check_pin(program));

  std::filesystem::resize_file(path_, 100);

  expect_refused(program);
}

TEST_F(PinnedByPathTest, ALauncherIsFoundOnThePathAndNotInAnExcludedRegion) {
  const auto excluded = AbsolutePath::parse(place_.str());
  ASSERT_TRUE(excluded);

  const PinnedProgram found = pin_launcher("program", place_.str(), {});
  const PinnedProgram hidden = pin_launcher("program", place_.str(), {*excluded});

  EXPECT_TRUE(found.handle) << found.fact.reason;
  EXPECT_EQ(found.fact.path, path_);
  EXPECT_FALSE(hidden.handle);
  EXPECT_THAT(hidden.fact.reason, HasSubstr("inside a writable region"));
}

TEST_F(PinnedByPathTest, ALinkIntoAnExcludedRegionIsNoWayThere) {
  const TemporaryDirectory elsewhere;
  std::filesystem::create_symlink(path_, elsewhere / "program");

  const auto region = AbsolutePath::parse(place_.str());
  const PinnedProgram program = pin_launcher("program", elsewhere.str(), {*region});

  EXPECT_FALSE(program.handle);
  EXPECT_THAT(program.fact.reason, HasSubstr("leads into a writable region"));
}

TEST_F(PinnedByPathTest, WhatIsNoExecutableFileIsRefusedWithTheReason) {
  ASSERT_EQ(::mkfifo((place_ / "fifo").c_str(), 0755), 0);
  EXPECT_THAT(find_stage2(place_ / "fifo").fact.reason, HasSubstr("not a regular file"));
  EXPECT_THAT(find_stage2(place_.str()).fact.reason, HasSubstr("not a regular file"));
  EXPECT_THAT(find_stage2(place_ / "none").fact.reason, HasSubstr("No such file"));
}

}  // namespace
}  // namespace loom::host
