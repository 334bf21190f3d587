#include <elf.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string>

#include "stage2_run.h"
#include "tests/support/read_file.h"

namespace loom::bwrap {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// Refused before anything was put in force: 126, one line, an empty report, and the host is told.
void expect_refused(Stage2Run& run, Stage2Step step, const std::string& text) {
  EXPECT_TRUE(run.read_report().empty());
  const auto message = run.receive();
  ASSERT_TRUE(message);
  EXPECT_EQ(message->kind, ControlKind::kFailed);
  EXPECT_EQ(message->step, step);
  EXPECT_THAT(message->detail, HasSubstr(text));
  const Ended ended = run.wait();
  EXPECT_EQ(ended.code, 126);
  EXPECT_THAT(ended.err, StartsWith("loom-exec[stage2]: "));
  EXPECT_THAT(ended.err, HasSubstr(text));
  EXPECT_EQ(ended.err.find('\n'), ended.err.size() - 1) << ended.err;
}

TEST(Stage2Document, StartedByHandItSaysSoAndEndsWith126) {
  const Start by_hand{.launcher = {}, .in_child = [] {
                        for (const int fd : {3, 4, 5}) ::close(fd);
                      }};
  Stage2Run run(plain_document(), by_hand);
  const Ended ended = run.wait();
  EXPECT_EQ(ended.code, 126);
  EXPECT_THAT(ended.err, StartsWith("loom-exec[stage2]: "));
  EXPECT_THAT(ended.err, HasSubstr("by hand"));
  EXPECT_EQ(ended.err.find('\n'), ended.err.size() - 1) << ended.err;
}

// What starts without the C library's start must hold nothing that needs it: neither thread-local
// storage nor addresses that are filled in at run time (of which a static program has only those
// that depend on the processor).
TEST(Stage2Document, TheProgramNeedsNothingBeforeItsFirstInstruction) {
  const std::string image = test::read_file(LOOM_BINARY_DIR "/libexec/loom-exec/bwrap-stage2");
  Elf64_Ehdr header{};
  ASSERT_GE(image.size(), sizeof header);
  std::memcpy(&header, image.data(), sizeof header);
  ASSERT_EQ(header.e_type, ET_EXEC);
  int loaded = 0;
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    std::memcpy(&segment, image.data() + header.e_phoff + i * sizeof segment, sizeof segment);
    loaded += segment.p_type == PT_LOAD ? 1 : 0;
    EXPECT_NE(segment.p_type, static_cast<Elf64_Word>(PT_INTERP));
    EXPECT_NE(segment.p_type, static_cast<Elf64_Word>(PT_DYNAMIC));
#if defined(__x86_64__)
    EXPECT_NE(segment.p_type, static_cast<Elf64_Word>(PT_TLS));
#endif
  }
  EXPECT_GT(loaded, 0);
#if defined(__x86_64__)
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section{};
    std::memcpy(&section, image.data() + header.e_shoff + i * sizeof section, sizeof section);
    EXPECT_NE(section.sh_type, static_cast<Elf64_Word>(SHT_RELA));
    EXPECT_NE(section.sh_type, static_cast<Elf64_Word>(SHT_INIT_ARRAY));
  }
#endif
}

TEST(Stage2Document, ATruncatedDocumentIsRefused) {
  Bytes bytes = encode(plain_document());
  bytes.pop_back();
  Stage2Run run(bytes);
  expect_refused(run, Stage2Step::kDocument, "");
}

TEST(Stage2Document, AnEmptyDocumentIsRefused) {
  Stage2Run run(Bytes{});
  expect_refused(run, Stage2Step::kDocument, "");
}

TEST(Stage2Document, ACorruptedDocumentIsRefused) {
  Bytes bytes = encode(plain_document());
  bytes.front() = std::byte{0xc1};
  Stage2Run run(bytes);
  expect_refused(run, Stage2Step::kDocument, "");
}

TEST(Stage2Document, AnUnknownVersionIsRefused) {
  std::string text(as_text(encode(plain_document())));
  text.replace(text.find("\xa1v\x01"), 3, "\xa1v\x07");
  const ByteView view = as_bytes(text);
  Stage2Run run(Bytes(view.begin(), view.end()));
  expect_refused(run, Stage2Step::kDocument, "version");
}

TEST(Stage2Document, ADocumentAboveTheCeilingIsRefused) {
  Stage2Run run(Bytes(kMaxDocumentBytes + 1));
  expect_refused(run, Stage2Step::kDocument, "prepare document");
}

TEST(Stage2Document, ADocumentThatCouldStillChangeIsRefused) {
  const Start unsealed{.launcher = {}, .in_child = [] {
                         const UniqueFd file = make_memory_file(encode(plain_document()), false);
                         ::dup2(file.get(), 3);
                       }};
  Stage2Run run(plain_document(), unsealed);
  expect_refused(run, Stage2Step::kDocument, "sealed");
}

TEST(Stage2Document, AReportThatNobodyReadsIsFatal) {
  const Start no_reader{.launcher = {}, .in_child = [] {
                          std::array<int, 2> ends{};
                          if (::pipe(ends.data()) != 0) ::_exit(98);
                          ::dup2(ends[1], 4);
                          ::close(ends[0]);
                          ::close(ends[1]);
                        }};
  Stage2Run run(plain_document(), no_reader);
  expect_refused(run, Stage2Step::kReport, "report");
}

TEST(Stage2Document, NothingRunsWithoutACommit) {
  const TemporaryDirectory place;
  const CommitDocument command = shell("touch " + place / "ran");
  {
    Stage2Run run(plain_document());
    ASSERT_TRUE(run.await_ready());
    run.hang_up();
    const Ended ended = run.wait();
    EXPECT_EQ(ended.code, 126);
    EXPECT_THAT(ended.err, HasSubstr("no commit"));
    EXPECT_NE(::access((place / "ran").c_str(), F_OK), 0);
  }
  EXPECT_EQ(run_command_with(plain_document(), command).code, 0);
  EXPECT_EQ(::access((place / "ran").c_str(), F_OK), 0);
}

TEST(Stage2Document, ACommitWithoutADocumentRunsNothing) {
  Stage2Run run(plain_document());
  ASSERT_TRUE(run.await_ready());
  run.send_commit({});
  const auto message = run.receive();
  ASSERT_TRUE(message);
  EXPECT_EQ(message->step, Stage2Step::kCommit);
  EXPECT_EQ(run.wait().code, 126);
}

TEST(Stage2Document, AnUnsealedCommitRunsNothing) {
  Stage2Run run(plain_document());
  ASSERT_TRUE(run.await_ready());
  const UniqueFd unsealed = make_memory_file(encode(shell("echo ran")), false);
  run.send_commit({unsealed.get()});
  const Ended ended = run.wait();
  EXPECT_EQ(ended.code, 126);
  EXPECT_EQ(ended.out, "");
  EXPECT_THAT(ended.err, HasSubstr("sealed"));
}

}  // namespace
}  // namespace loom::bwrap
