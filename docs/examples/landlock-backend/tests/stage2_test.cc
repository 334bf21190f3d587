// What the inner stage reads and writes without the SDK, against what the SDK writes and reads.
#include <gtest/gtest.h>
#include <loom/report.h>
#include <loom/stage2_control.h>

#include <cstring>
#include <vector>

#include "prepare_document.h"
#include "stage2/control.h"
#include "stage2/packed_writer.h"
#include "stage2/prepare_document.h"

namespace landlock {
namespace {

// A document as stage 2 has it: writable, and with a byte to spare.
class Copy {
 public:
  explicit Copy(const loom::Bytes& bytes) : bytes_(bytes.size() + 1) {
    std::memcpy(bytes_.data(), bytes.data(), bytes.size());
  }
  [[nodiscard]] stage2::Document document(std::size_t less = 0) {
    return {.bytes = bytes_.data(), .size = bytes_.size() - 1 - less};
  }

 private:
  std::vector<char> bytes_;
};

std::vector<std::string> words_of(char* const* list) {
  std::vector<std::string> words;
  for (; *list != nullptr; ++list) words.emplace_back(*list);
  return words;
}

loom::CommitDocument sample_commit() {
  return {
      .argv = {"sh", "", std::string(40, 'a'), std::string(300, 'b'), "caf\xC3\xA9", "\xFF\xFE"},
      .environment = {"A=", "B=\xFF", "PATH=/usr/bin"},
      .cwd = "/ws"};
}

TEST(LandlockStage2Test, ReadsTheCommitThatTheHostWrites) {
  const loom::CommitDocument written = sample_commit();
  Copy copy(loom::encode(written));
  stage2::Commit commit;

  ASSERT_TRUE(stage2::decode_commit(copy.document(), commit));

  EXPECT_EQ(words_of(commit.argv), written.argv);
  EXPECT_EQ(words_of(commit.environment), written.environment);
  EXPECT_STREQ(commit.cwd, "/ws");
}

TEST(LandlockStage2Test, RefusesACommitThatIsCut) {
  const loom::Bytes bytes = loom::encode(sample_commit());
  for (std::size_t less = 1; less <= bytes.size(); ++less) {
    SCOPED_TRACE(less);
    Copy copy(bytes);
    stage2::Commit commit;

    EXPECT_FALSE(stage2::decode_commit(copy.document(less), commit));
  }
}

TEST(LandlockStage2Test, RefusesWhatBelongsToVersionThree) {
  for (int which = 0; which < 3; ++which) {
    SCOPED_TRACE(which);
    loom::CommitDocument document = sample_commit();
    if (which == 0) document.program = "/usr/bin/true";
    if (which == 1) document.exec_rules = true;
    if (which == 2) document.scratch_runs = true;
    Copy copy(loom::encode(document));
    stage2::Commit commit;

    EXPECT_FALSE(stage2::decode_commit(copy.document(), commit));
  }
}

TEST(LandlockStage2Test, RefusesAWordThatHoldsANul) {
  loom::CommitDocument document = sample_commit();
  document.argv.push_back(std::string("a\0b", 3));
  Copy copy(loom::encode(document));
  stage2::Commit commit;

  EXPECT_FALSE(stage2::decode_commit(copy.document(), commit));
}

TEST(LandlockStage2Test, NoFlippedBitIsReadOutOfBounds) {
  const loom::Bytes bytes = loom::encode(sample_commit());
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    loom::Bytes flipped = bytes;
    flipped[bit / 8] ^= std::byte{1} << (bit % 8);
    Copy copy(flipped);
    stage2::Commit commit;

    if (stage2::decode_commit(copy.document(), commit)) {
      EXPECT_LE(words_of(commit.argv).size(), bytes.size());
    }
  }
}

TEST(LandlockStage2Test, ReadsThePrepareDocumentThatThePlanWrites) {
  const PrepareDocument written{.abi = 7,
                                .handled_files = 0xffff,
                                .handled_tcp = 3,
                                .scopes = 3,
                                .rules = {{.path = "/ws",
                                           .access = 0xfff0,
                                           .identity = {.device = 70'000, .inode = 1ull << 40}},
                                          {.path = "/caf\xFF", .access = 5}},
                                .filter = loom::Bytes(16, std::byte{9}),
                                .cuts_network = true,
                                .denies_unix = false,
                                .file_bytes = 1u << 20,
                                .cpu_s = 50};
  Copy copy(encode(written));
  stage2::PrepareDocument read;

  ASSERT_TRUE(stage2::decode_prepare(copy.document(), read));

  EXPECT_EQ(read.abi, 7u);
  EXPECT_EQ(read.handled_files, 0xffffu);
  EXPECT_EQ(read.handled_tcp, 3u);
  ASSERT_EQ(read.rule_count, 2u);
  EXPECT_STREQ(read.rules[0].path, "/ws");
  EXPECT_EQ(read.rules[0].access, 0xfff0u);
  EXPECT_EQ(read.rules[0].device, 70'000u);
  EXPECT_EQ(read.rules[0].inode, 1ull << 40);
  EXPECT_STREQ(read.rules[1].path, "/caf\xFF");
  EXPECT_EQ(read.filter_bytes, 16u);
  EXPECT_TRUE(read.cuts_network);
  EXPECT_FALSE(read.denies_unix);
  EXPECT_TRUE(read.file_bytes.asked);
  EXPECT_EQ(read.cpu_soft.value, 50u);
  EXPECT_EQ(read.cpu_hard.value, 51u);
  EXPECT_FALSE(read.descriptors.asked);
}

TEST(LandlockStage2Test, StepsHaveTheNumbersThatTheHostKnows) {
  const auto same = [](stage2::Step own, loom::Stage2Step hosts) {
    EXPECT_EQ(static_cast<std::uint32_t>(own), static_cast<std::uint32_t>(hosts));
  };
  same(stage2::Step::kDocument, loom::Stage2Step::kDocument);
  same(stage2::Step::kLimits, loom::Stage2Step::kLimits);
  same(stage2::Step::kSession, loom::Stage2Step::kSession);
  same(stage2::Step::kNoNewPrivs, loom::Stage2Step::kNoNewPrivs);
  same(stage2::Step::kCapabilities, loom::Stage2Step::kCapabilities);
  same(stage2::Step::kLandlock, loom::Stage2Step::kLandlock);
  same(stage2::Step::kFilter, loom::Stage2Step::kFilter);
  same(stage2::Step::kReport, loom::Stage2Step::kReport);
  same(stage2::Step::kCommit, loom::Stage2Step::kCommit);
  same(stage2::Step::kExecRules, loom::Stage2Step::kExecRules);
  same(stage2::Step::kDirectory, loom::Stage2Step::kDirectory);
  same(stage2::Step::kLookup, loom::Stage2Step::kLookup);
  same(stage2::Step::kExecute, loom::Stage2Step::kExecute);
}

TEST(LandlockStage2Test, WhatDoesNotFitIsALossThatShows) {
  stage2::PackedWriter<8> out;

  out.text("1234567");
  EXPECT_TRUE(out.fits());
  out.number(1);
  EXPECT_FALSE(out.fits());
}

}  // namespace
}  // namespace landlock
