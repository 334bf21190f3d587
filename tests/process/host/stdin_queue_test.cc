#include "host/stdin_queue.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <string>

#include "process_support.h"

namespace loom::host {
namespace {

Bytes bytes_of(std::size_t count, char fill = 'x') {
  return Bytes(count, static_cast<std::byte>(fill));
}

// Whatever the pipe holds now.
std::string drain(int fd) {
  std::string text(1u << 20, '\0');
  const ssize_t got = ::read(fd, text.data(), text.size());
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

class StdinQueueTest : public ::testing::Test {
 protected:
  StdinQueueTest() { ::signal(SIGPIPE, SIG_IGN); }  // as main does
  ~StdinQueueTest() override { ::signal(SIGPIPE, SIG_DFL); }

  Pipe pipe_ = make_pipe(O_CLOEXEC | O_NONBLOCK);
};

// cases.md 172
TEST_F(StdinQueueTest, ManyChunksArriveUnchangedAndTheEndAfterThem) {
  StdinQueue queue(std::move(pipe_.write));
  std::string expected;
  for (std::size_t i = 0; i < 200; ++i) {
    const Bytes chunk = bytes_of(i * 37, static_cast<char>('a' + i % 26));
    expected += as_text(chunk);
    ASSERT_EQ(queue.offer(chunk, i == 199), StdinAnswer::kAccepted);
  }

  std::string got;
  for (int rounds = 0; queue.wants_write() && rounds < 1'000; ++rounds) {
    queue.write_some();
    got += drain(pipe_.read.get());
  }

  EXPECT_EQ(queue.fd(), -1);
  EXPECT_EQ(got, expected);
  char byte = 0;
  EXPECT_EQ(::read(pipe_.read.get(), &byte, 1), 0);
}

TEST_F(StdinQueueTest, EofAloneClosesThePipeAtOnce) {
  StdinQueue queue(std::move(pipe_.write));

  EXPECT_EQ(queue.offer({}, true), StdinAnswer::kAccepted);

  EXPECT_EQ(queue.fd(), -1);
  EXPECT_FALSE(queue.wants_write());
}

// cases.md 167
TEST_F(StdinQueueTest, AChunkAfterEofIsRefused) {
  StdinQueue queue(std::move(pipe_.write));
  ASSERT_EQ(queue.offer(bytes_of(3), true), StdinAnswer::kAccepted);

  EXPECT_EQ(queue.offer(bytes_of(1), false), StdinAnswer::kAfterEof);
  queue.write_some();
  EXPECT_EQ(queue.offer({}, true), StdinAnswer::kAfterEof);

  EXPECT_EQ(drain(pipe_.read.get()), "xxx");
}

// cases.md 173
TEST_F(StdinQueueTest, WithoutAReaderTheBoundHoldsAndAbandonReleasesIt) {
  constexpr std::size_t kChunk = 32u << 10;
  StdinQueue queue(std::move(pipe_.write));
  std::size_t accepted = 0;

  while (queue.offer(bytes_of(kChunk), false) == StdinAnswer::kAccepted) {
    accepted += kChunk;
    ASSERT_LE(accepted, kMaxPendingStdin + (64u << 10) + kChunk);
    queue.write_some();
  }

  EXPECT_GE(accepted, kMaxPendingStdin);
  EXPECT_EQ(queue.offer(bytes_of(kChunk), false), StdinAnswer::kWait);
  EXPECT_EQ(queue.offer({}, false), StdinAnswer::kAccepted) << "nothing needs no room";
  queue.abandon();
  EXPECT_EQ(queue.offer(bytes_of(kChunk), false), StdinAnswer::kEnded);
}

TEST_F(StdinQueueTest, AnEmptyQueueAdmitsAChunkOfAnySize) {
  StdinQueue queue(std::move(pipe_.write));

  EXPECT_EQ(queue.offer(bytes_of(kMaxPendingStdin + 1), false), StdinAnswer::kAccepted);
  EXPECT_EQ(queue.offer(bytes_of(1), false), StdinAnswer::kWait);
}

TEST_F(StdinQueueTest, ThereIsRoomAgainWhenTheCommandReads) {
  StdinQueue queue(std::move(pipe_.write));
  ASSERT_EQ(queue.offer(bytes_of(kMaxPendingStdin), false), StdinAnswer::kAccepted);
  ASSERT_EQ(queue.offer(bytes_of(1), false), StdinAnswer::kWait);

  queue.write_some();

  EXPECT_LT(queue.pending(), kMaxPendingStdin);
  EXPECT_EQ(queue.offer(bytes_of(1), false), StdinAnswer::kAccepted);
}

// cases.md 174
TEST_F(StdinQueueTest, AbandonDropsTheQueueAndTheReaderSeesTheEnd) {
  StdinQueue queue(std::move(pipe_.write));
  ASSERT_EQ(queue.offer(bytes_of(100), false), StdinAnswer::kAccepted);

  queue.abandon();
  queue.abandon();

  EXPECT_EQ(queue.pending(), 0u);
  EXPECT_FALSE(queue.wants_write());
  EXPECT_EQ(queue.offer(bytes_of(1), false), StdinAnswer::kEnded);
  char byte = 0;
  EXPECT_EQ(::read(pipe_.read.get(), &byte, 1), 0);
}

// cases.md 174
TEST_F(StdinQueueTest, AbandonWithNothingQueuedIsFine) {
  StdinQueue queue(std::move(pipe_.write));

  queue.abandon();
  queue.abandon();

  EXPECT_EQ(queue.fd(), -1);
}

// cases.md 175
TEST_F(StdinQueueTest, AReaderThatIsGoneIsReportedByTheNextChunk) {
  StdinQueue queue(std::move(pipe_.write));
  pipe_.read.reset();

  EXPECT_EQ(queue.offer(bytes_of(5), false), StdinAnswer::kAccepted);
  queue.write_some();

  EXPECT_EQ(queue.offer(bytes_of(5), false), StdinAnswer::kWriteFailed);
  EXPECT_EQ(queue.offer({}, true), StdinAnswer::kWriteFailed);
  EXPECT_FALSE(queue.wants_write());
}

// cases.md 177
TEST_F(StdinQueueTest, AFailureAfterAbandonIsNoFailure) {
  StdinQueue queue(std::move(pipe_.write));
  ASSERT_EQ(queue.offer(bytes_of(1u << 20), false), StdinAnswer::kAccepted);
  queue.write_some();
  pipe_.read.reset();

  queue.abandon();
  queue.write_some();

  EXPECT_EQ(queue.offer(bytes_of(1), false), StdinAnswer::kEnded);
}

// cases.md 179
TEST_F(StdinQueueTest, TheBoundIsTheLargestFrame) { EXPECT_EQ(kMaxPendingStdin, 1u << 24); }

int interruptions_left = 0;

TEST_F(StdinQueueTest, ShortAndInterruptedWritesLoseNothing) {
  Syscalls syscalls = real_syscalls();
  interruptions_left = 3;
  syscalls.write = [](int fd, const void* data, std::size_t size) -> ssize_t {
    if (interruptions_left-- > 0) {
      errno = EINTR;
      return -1;
    }
    return ::write(fd, data, std::min<std::size_t>(size, 2));
  };
  StdinQueue queue(std::move(pipe_.write), syscalls);
  ASSERT_EQ(queue.offer(as_bytes("abcde"), false), StdinAnswer::kAccepted);
  ASSERT_EQ(queue.offer(as_bytes("fg"), true), StdinAnswer::kAccepted);

  queue.write_some();

  EXPECT_EQ(drain(pipe_.read.get()), "abcdefg");
  EXPECT_EQ(queue.fd(), -1);
}

}  // namespace
}  // namespace loom::host
