#include "host/pinned_program.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "process_support.h"

namespace loom::host {
namespace {

AbsolutePath path(const std::string& text) { return *AbsolutePath::parse(text); }

bool mentions(const PinnedProgram& program, const std::string& words) {
  return program.fact.reason.find(words) != std::string::npos;
}

class PinnedProgramTest : public ::testing::Test {
 protected:
  PinnedProgramTest() {
    for (const char* name : {"safe", "work"}) {
      std::filesystem::create_directory(at(name));
      std::filesystem::copy_file(LOOM_CHILD_PROBE, at(std::string(name) + "/launcher"));
    }
  }

  std::string at(const std::string& name) const { return directory_ / name; }

  TemporaryDirectory directory_;
};

TEST_F(PinnedProgramTest, TheFirstEntryThatHoldsItWinsAndItRunsByHandle) {
  const auto program =
      pin_launcher("launcher", at("none") + ":" + at("safe") + ":" + at("work"), {});

  ASSERT_TRUE(program.fact.present) << program.fact.reason;
  EXPECT_EQ(program.fact.path, at("safe/launcher"));
  struct stat about {};
  ASSERT_EQ(::stat(at("safe/launcher").c_str(), &about), 0);
  EXPECT_EQ(program.fact.identity, (FileIdentity{.device = about.st_dev, .inode = about.st_ino}));
  SpawnRequest request = probe({"session"});
  request.image_fd = program.handle.get();
  EXPECT_EQ(output_of(request), "11");
}

TEST_F(PinnedProgramTest, AReplacedNameDoesNotChangeWhatRuns) {
  const auto program = pin_launcher("launcher", at("safe"), {});
  ASSERT_TRUE(program.fact.present);
  std::filesystem::remove(at("safe/launcher"));
  std::filesystem::create_symlink("/bin/false", at("safe/launcher"));
  SpawnRequest request = probe({"session"});
  request.image_fd = program.handle.get();

  EXPECT_EQ(output_of(request), "11");
}

TEST_F(PinnedProgramTest, RelativeAndEmptyEntriesAreSkippedAndNamed) {
  const auto program = pin_launcher("launcher", "safe::.", {});

  EXPECT_FALSE(program.fact.present);
  EXPECT_FALSE(program.handle);
  EXPECT_TRUE(mentions(program, "\"safe\": not an absolute path")) << program.fact.reason;
  EXPECT_TRUE(mentions(program, "\"\": not an absolute path")) << program.fact.reason;
}

TEST_F(PinnedProgramTest, AnEntryInsideAnExcludedRegionIsSkippedAndNamed) {
  const std::string both = at("work") + ":" + at("safe");

  const auto unrestricted = pin_launcher("launcher", both, {});
  const auto restricted = pin_launcher("launcher", both, {path(at("work"))});
  const auto nothing = pin_launcher("launcher", at("work"), {path(at("work"))});

  EXPECT_EQ(unrestricted.fact.path, at("work/launcher"));
  EXPECT_EQ(restricted.fact.path, at("safe/launcher"));
  EXPECT_FALSE(nothing.fact.present);
  EXPECT_TRUE(mentions(nothing, at("work") + "\": inside a writable region"))
      << nothing.fact.reason;
}

TEST_F(PinnedProgramTest, LinksDoNotHideAnExcludedRegion) {
  std::filesystem::create_directory(at("links"));
  std::filesystem::create_symlink(at("work"), at("to_work"));
  std::filesystem::create_symlink(at("work/launcher"), at("links/launcher"));
  const auto excluded = path(at("work"));
  const auto excluded_by_link = path(at("to_work"));

  EXPECT_FALSE(pin_launcher("launcher", at("to_work"), {excluded}).fact.present);
  EXPECT_FALSE(pin_launcher("launcher", at("links"), {excluded}).fact.present);
  EXPECT_FALSE(pin_launcher("launcher", at("work"), {excluded_by_link}).fact.present);
  EXPECT_TRUE(pin_launcher("launcher", at("links"), {}).fact.present);
}

TEST_F(PinnedProgramTest, AnAbsolutePathIsTakenAsItIs) {
  const auto program = pin_launcher(at("work/launcher"), "", {path(at("work"))});

  EXPECT_TRUE(program.fact.present);
  EXPECT_EQ(program.fact.path, at("work/launcher"));
}

TEST_F(PinnedProgramTest, WhatIsNoExecutableFileIsRefusedWithTheReason) {
  std::ofstream(at("text")) << "x";
  ASSERT_EQ(::chmod(at("text").c_str(), 0644), 0);
  ASSERT_EQ(::mkfifo(at("fifo").c_str(), 0755), 0);
  ::alarm(5);  // ends the test program if the FIFO is waited for

  EXPECT_TRUE(mentions(pin_launcher(at("none"), "", {}), "No such file"));
  EXPECT_TRUE(mentions(pin_launcher(at("safe"), "", {}), "not a regular file"));
  EXPECT_TRUE(mentions(pin_launcher(at("text"), "", {}), "Permission denied"));
  EXPECT_TRUE(mentions(pin_launcher(at("fifo"), "", {}), "not a regular file"));
  EXPECT_TRUE(mentions(find_stage2(at("fifo")), "not a regular file"));
  EXPECT_TRUE(mentions(pin_launcher("safe/launcher", at(""), {}), "neither"));
  ::alarm(0);
}

TEST_F(PinnedProgramTest, Stage2RunsFromACopyThatOutlivesItsFile) {
  auto program = find_stage2(at("safe/launcher"));
  ASSERT_TRUE(seal_stage2(program));
  ASSERT_TRUE(program.fact.present) << program.fact.reason;
  std::ofstream(at("safe/launcher"), std::ios::trunc) << "no program any more";
  SpawnRequest request = probe({"session"});
  request.image_fd = program.handle.get();

  EXPECT_EQ(output_of(request), "11");
  EXPECT_EQ(program.fact.path, at("safe/launcher"));
}

}  // namespace
}  // namespace loom::host
