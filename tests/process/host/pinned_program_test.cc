#include "host/pinned_program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "process_support.h"
#include "tests/support/promised.h"

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

TEST_F(PinnedProgramTest, AStage2ThatOthersMayChangeIsNone) {
  const std::string file = at("safe/launcher");
  EXPECT_TRUE(find_stage2(file).fact.present);
  for (const mode_t mode : {mode_t{0775}, mode_t{0757}}) {
    ASSERT_EQ(::chmod(file.c_str(), mode), 0);
    EXPECT_TRUE(mentions(find_stage2(file), "is writable by group or others"));
  }
  ASSERT_EQ(::chmod(file.c_str(), 0755), 0);
  if (::geteuid() != 0) LOOM_SKIP_UNLESS_PROMISED("only the superuser gives a file away");
  ASSERT_EQ(::chown(file.c_str(), 65'534, 65'534), 0);
  EXPECT_TRUE(mentions(find_stage2(file), "belongs to uid 65534"));
}

TEST_F(PinnedProgramTest, TheNearestStage2IsTakenOrNone) {
  const std::vector<std::string> directories = {at("work"), at("safe")};
  EXPECT_EQ(find_stage2(directories, "launcher").fact.path, at("work/launcher"));
  ASSERT_EQ(::chmod(at("work/launcher").c_str(), 0777), 0);
  const auto refused = find_stage2(directories, "launcher");
  EXPECT_FALSE(refused.fact.present);
  EXPECT_TRUE(mentions(refused, at("work/launcher")));
  ASSERT_EQ(::unlink(at("work/launcher").c_str()), 0);
  EXPECT_EQ(find_stage2(directories, "launcher").fact.path, at("safe/launcher"));
  EXPECT_TRUE(mentions(find_stage2(directories, "none"), at("work/none")));
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

// A pin as the helper holds it once it has started, and what its next check says.
class PinCheckTest : public PinnedProgramTest {
 protected:
  PinCheckTest() : program_(pin_launcher("launcher", at("safe"), {})) { take_digest(program_); }

  std::string refusal() {
    const auto checked = check_pin(program_);
    return checked ? std::string() : checked.error().message;
  }
  void append(const std::string& text) const {
    std::ofstream(at("safe/launcher"), std::ios::app | std::ios::binary) << text;
  }

  PinnedProgram program_;
};

TEST_F(PinCheckTest, AProgramThatNobodyTouchedIsWhatWasPinned) {
  EXPECT_EQ(program_.digest.size(), 64U);
  EXPECT_EQ(refusal(), "");
}

// guard 9.4: 77
TEST_F(PinCheckTest, ARewriteInPlaceIsRefusedByNameNowAndLater) {
  append("x");
  EXPECT_TRUE(refusal().starts_with("pin_changed: " + at("safe/launcher"))) << refusal();
  EXPECT_NE(refusal(), "");
}

TEST_F(PinCheckTest, ARewriteWithTheOldTimesAndSizeIsRefusedToo) {
  std::fstream file(at("safe/launcher"), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-1, std::ios::end);
  file.put('?');
  file.close();
  const auto seconds = program_.stamp.modified_ns / 1'000'000'000;
  const timespec times[2] = {
      {.tv_sec = seconds, .tv_nsec = program_.stamp.modified_ns % 1'000'000'000},
      {.tv_sec = seconds, .tv_nsec = program_.stamp.modified_ns % 1'000'000'000}};
  ASSERT_EQ(::utimensat(AT_FDCWD, at("safe/launcher").c_str(), times, 0), 0);
  EXPECT_NE(refusal(), "");
}

TEST_F(PinCheckTest, ANewLinkOrDateOverTheSameContentsIsRemembered) {
  std::filesystem::create_hard_link(at("safe/launcher"), at("link"));
  const FileStamp before = program_.stamp;
  EXPECT_EQ(refusal(), "");
  EXPECT_NE(program_.stamp, before);
  const FileStamp remembered = program_.stamp;
  EXPECT_EQ(refusal(), "");
  EXPECT_EQ(program_.stamp, remembered);
  append("x");
  EXPECT_NE(refusal(), "");
}

// guard 9.4: 75
TEST_F(PinCheckTest, ANameThatIsGoneOrAnothersLeavesThePinAsItWas) {
  std::filesystem::rename(at("work/launcher"), at("safe/launcher"));
  EXPECT_EQ(refusal(), "");
}

TEST_F(PinCheckTest, WithoutADigestEveryChangeIsARefusal) {
  program_.digest.clear();
  EXPECT_EQ(refusal(), "");
  std::filesystem::create_hard_link(at("safe/launcher"), at("link"));
  EXPECT_NE(refusal(), "");
}

TEST_F(PinCheckTest, AChangeBeforeTheDigestWasTakenIsNotOverlooked) {
  PinnedProgram late = pin_launcher("launcher", at("safe"), {});
  append("x");
  take_digest(late);
  EXPECT_EQ(late.digest, "");
  EXPECT_FALSE(check_pin(late));
}

TEST_F(PinCheckTest, AProgramThatCannotBeReadHasNoDigest) {
  const bool reads_everything = ::geteuid() == 0;
  ASSERT_EQ(::chmod(at("work/launcher").c_str(), 0111), 0);
  PinnedProgram unreadable = pin_launcher("launcher", at("work"), {});
  ASSERT_TRUE(unreadable.fact.present) << unreadable.fact.reason;
  take_digest(unreadable);
  EXPECT_EQ(unreadable.digest.empty(), !reads_everything);
  EXPECT_TRUE(check_pin(unreadable));
  std::filesystem::create_hard_link(at("work/launcher"), at("link"));
  EXPECT_EQ(check_pin(unreadable).has_value(), reads_everything);
}

TEST_F(PinCheckTest, Stage2IsCheckedOnlyWhereItCouldNotBeSealed) {
  PinnedProgram open = find_stage2(at("safe/launcher"));
  PinnedProgram sealed = find_stage2(at("safe/launcher"));
  ASSERT_TRUE(seal_stage2(sealed));
  take_digest(open);
  take_digest(sealed);
  EXPECT_TRUE(sealed.sealed);
  EXPECT_EQ(open.digest.size(), 64U);
  EXPECT_EQ(sealed.digest, "");
  append("x");
  EXPECT_FALSE(check_pin(open));
  EXPECT_TRUE(check_pin(sealed));
}

TEST_F(PinCheckTest, WhatOurUserCouldRewriteIsOurs) {
  EXPECT_EQ(is_ours_to_write(program_), ::geteuid() != 0);
  EXPECT_FALSE(is_ours_to_write(pin_launcher("/bin/true", "", {})));
}

}  // namespace
}  // namespace loom::host
