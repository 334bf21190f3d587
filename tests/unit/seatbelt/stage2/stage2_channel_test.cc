#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "stage2_run.h"

namespace loom::seatbelt {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::StartsWith;

CommitDocument echo(const std::string& word) {
  return {.argv = {"/bin/echo", word}, .environment = {}, .cwd = ""};
}

void expect_one_line(const Ended& ended, const std::string& text) {
  EXPECT_EQ(ended.code, 126);
  EXPECT_THAT(ended.err, StartsWith("loom-exec[stage2]: "));
  EXPECT_THAT(ended.err, HasSubstr(text));
  EXPECT_EQ(ended.err.find('\n'), ended.err.size() - 1) << ended.err;
  EXPECT_EQ(ended.out, "");
}

// 126, one line, and the host is told.
void expect_refused(Stage2Run& run, Stage2Step step, const std::string& text) {
  const auto message = run.receive();
  ASSERT_TRUE(message);
  EXPECT_EQ(message->kind, ControlKind::kFailed);
  EXPECT_EQ(message->step, step);
  EXPECT_THAT(message->detail, HasSubstr(text));
  expect_one_line(run.wait(), text);
}

TEST(SeatbeltStage2Channel, StartedByHandItSaysSoAndEndsWith126) {
  Stage2Run run(PrepareDocument{}, [] {
    for (const int fd : {3, 4, 5}) ::close(fd);
  });
  expect_one_line(run.wait(), "by hand");
}

TEST(SeatbeltStage2Channel, StartedWithSomethingElseThanAChannelItEndsWith126) {
  Stage2Run run(PrepareDocument{}, [] { ::dup2(::open("/dev/null", O_RDWR), 5); });
  expect_one_line(run.wait(), "control channel");
}

TEST(SeatbeltStage2Channel, TakesItsDocumentFromAPipeASocketAndAFile) {
  PrepareDocument document;
  document.fsize_bytes = 12'345;
  for (const auto make : {&make_pipe, &make_socket, &make_file}) {
    Stage2Run run(make(encode(document)));
    const auto report = run.await_ready();
    ASSERT_TRUE(report);
    EXPECT_THAT(report->applied, ::testing::Contains("rlimit-fsize"));
  }
}

TEST(SeatbeltStage2Channel, TakesItsCommitFromAPipeASocketAndAFile) {
  for (const auto make : {&make_pipe, &make_socket, &make_file}) {
    Stage2Run run(PrepareDocument{});
    ASSERT_TRUE(run.await_ready());
    const UniqueFd file = make(encode(echo("hi")));
    run.send_bytes(commit_frame(), {file.get()});
    EXPECT_EQ(run.wait().out, "hi\n");
  }
}

TEST(SeatbeltStage2Channel, ABadDocumentPutsNothingInForce) {
  for (const Bytes& bytes : {Bytes{}, Bytes(20), encode(echo("x"))}) {
    Stage2Run run(make_file(bytes));
    EXPECT_TRUE(run.read_report().empty());
    expect_refused(run, Stage2Step::kDocument, "");
  }
}

TEST(SeatbeltStage2Channel, ADocumentHasACeiling) {
  Stage2Run run(make_file(Bytes(kMaxDocumentBytes + 1)));
  EXPECT_TRUE(run.read_report().empty());
  expect_refused(run, Stage2Step::kDocument, "prepare document");
}

TEST(SeatbeltStage2Channel, WithoutACommitNothingRuns) {
  Stage2Run run(PrepareDocument{});
  ASSERT_TRUE(run.await_ready());
  run.hang_up();
  expect_one_line(run.wait(), "the helper has gone");
}

TEST(SeatbeltStage2Channel, AHostThatIsGoneBeforeItIsHeardIsNoSignal) {
  Stage2Run run(PrepareDocument{}, [] { ::signal(SIGPIPE, SIG_DFL); });
  run.hang_up();
  EXPECT_EQ(run.wait().code, 126);
}

TEST(SeatbeltStage2Channel, AReportThatNobodyReadsIsFatal) {
  Stage2Run run(PrepareDocument{}, [] {
    int ends[2];
    if (::pipe(ends) != 0) ::_exit(98);
    ::dup2(ends[1], 4);
    ::close(ends[0]);
    ::close(ends[1]);
  });
  expect_refused(run, Stage2Step::kReport, "report");
}

TEST(SeatbeltStage2Channel, ACommitMayComeInPieces) {
  Stage2Run run(PrepareDocument{});
  ASSERT_TRUE(run.await_ready());
  const UniqueFd file = make_pipe(encode(echo("pieces")));
  const Bytes bytes = commit_frame();
  run.send_bytes(ByteView(bytes).first(1), {file.get()});
  for (std::size_t i = 1; i < bytes.size(); ++i) {
    std::this_thread::sleep_for(1ms);
    run.send_bytes(ByteView(bytes).subspan(i, 1));
  }
  EXPECT_EQ(run.wait().out, "pieces\n");
}

TEST(SeatbeltStage2Channel, ACommitCutShortIsNone) {
  const Bytes bytes = commit_frame();
  for (const std::size_t size : {std::size_t{1}, std::size_t{4}, bytes.size() - 1}) {
    Stage2Run run(PrepareDocument{});
    ASSERT_TRUE(run.await_ready());
    const UniqueFd file = make_pipe(encode(echo("ran")));
    run.send_bytes(ByteView(bytes).first(size), {file.get()});
    run.hang_up();
    expect_one_line(run.wait(), "cut short");
  }
}

TEST(SeatbeltStage2Channel, AMessageHasACeiling) {
  for (const Bytes& length :
       {Bytes{std::byte{1}, std::byte{8}, std::byte{0}, std::byte{0}}, Bytes(4, std::byte{0xFF})}) {
    Stage2Run run(PrepareDocument{});
    ASSERT_TRUE(run.await_ready());
    run.send_bytes(length);
    expect_refused(run, Stage2Step::kCommit, "too long");
  }
}

TEST(SeatbeltStage2Channel, OnlyACommitWithOneDocumentIsOne) {
  const UniqueFd one = make_file(encode(echo("ran")));
  const UniqueFd two = make_file(encode(echo("ran")));
  for (const std::vector<int>& fds : {std::vector<int>{}, {one.get(), two.get()}}) {
    Stage2Run run(PrepareDocument{});
    ASSERT_TRUE(run.await_ready());
    run.send_bytes(commit_frame(), fds);
    expect_refused(run, Stage2Step::kCommit, "not a commit");
  }
  Stage2Run flooded(PrepareDocument{});
  ASSERT_TRUE(flooded.await_ready());
  flooded.send_bytes(commit_frame(), std::vector<int>(12, one.get()));
  expect_refused(flooded, Stage2Step::kCommit, "descriptors");
  Stage2Run run(PrepareDocument{});
  ASSERT_TRUE(run.await_ready());
  run.send_bytes(frame(ControlMessage{}), {one.get()});
  expect_refused(run, Stage2Step::kCommit, "not a commit");
}

TEST(SeatbeltStage2Channel, ABadCommitDocumentRunsNothing) {
  Stage2Run run(PrepareDocument{});
  ASSERT_TRUE(run.await_ready());
  const UniqueFd file = make_pipe(Bytes(10));
  run.send_bytes(commit_frame(), {file.get()});
  expect_refused(run, Stage2Step::kCommit, "");

  Stage2Run empty(PrepareDocument{});
  ASSERT_TRUE(empty.await_ready());
  empty.commit({});
  expect_refused(empty, Stage2Step::kCommit, "argv");
}

TEST(SeatbeltStage2Channel, ARuleSetThatNobodyEntersRunsNothing) {
  CommitDocument document = echo("ran");
  document.exec_rules = true;
  Stage2Run run(PrepareDocument{});
  ASSERT_TRUE(run.await_ready());
  run.commit(document);
  expect_refused(run, Stage2Step::kExecRules, "rule set");
}

}  // namespace
}  // namespace loom::seatbelt
