#include "host/byte_sink.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <array>
#include <fstream>
#include <string>
#include <vector>

#include "process_support.h"
#include "tests/support/promised.h"

namespace loom::host {
namespace {

Bytes letters(std::size_t count) {
  Bytes bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>('a' + i % 26);
  return bytes;
}

std::string text_of(const Bytes& bytes) { return std::string(as_text(bytes)); }

class ByteSinkTest : public ::testing::Test {
 protected:
  ByteSinkTest() { ::signal(SIGPIPE, SIG_IGN); }
  ~ByteSinkTest() override { ::signal(SIGPIPE, SIG_DFL); }
};

TEST_F(ByteSinkTest, AFullPipeIsNotWaitedForAndNothingIsLost) {
  Pipe pipe = make_pipe();
  auto sink = ByteSink::open(pipe.write.get());
  ASSERT_TRUE(sink);
  const Bytes sent = letters(300'000);
  sink->push(sent);

  ASSERT_TRUE(sink->flush());
  EXPECT_GT(sink->pending(), 0u);
  EXPECT_TRUE(sink->can_wait());

  std::string got;
  std::string part(65'536, '\0');
  while (got.size() < sent.size()) {
    const ssize_t count = ::read(pipe.read.get(), part.data(), part.size());
    ASSERT_GT(count, 0);
    got.append(part, 0, static_cast<std::size_t>(count));
    ASSERT_TRUE(sink->flush());
  }
  EXPECT_EQ(got, text_of(sent));
  EXPECT_EQ(sink->pending(), 0u);
}

TEST_F(ByteSinkTest, WhatFitsIsWrittenBeforeItIsQueued) {
  Pipe pipe = make_pipe();
  auto sink = ByteSink::open(pipe.write.get());
  ASSERT_TRUE(sink);
  const Bytes sent = letters(1'000);
  const ByteView whole = sent;
  const std::array pieces{whole.first(10), ByteView(), whole.subspan(10)};

  sink->push_or_write(pieces);

  EXPECT_EQ(sink->pending(), 0u);
  pipe.write.reset();
  sink = tl::unexpected(Error{});
  EXPECT_EQ(read_text(pipe.read.get()), text_of(sent));
}

TEST_F(ByteSinkTest, WhatDoesNotFitIsQueuedInItsOrder) {
  Pipe pipe = make_pipe();
  auto sink = ByteSink::open(pipe.write.get());
  ASSERT_TRUE(sink);
  // Of lengths that no end of the pipe's falls on, and more of them than one call writes.
  std::string expected;
  for (std::size_t round = 0; round < 200; ++round) {
    const Bytes first = letters(7 * round + 1);
    const Bytes second = letters(4'099);
    const std::array<ByteView, 2> pieces{first, second};
    sink->push_or_write(pieces);
    sink->push(letters(3));
    expected += text_of(first) + text_of(second) + "abc";
  }
  ASSERT_GT(sink->pending(), 0u);

  std::string got;
  std::string part(5'003, '\0');
  while (got.size() < expected.size()) {
    ASSERT_TRUE(sink->flush());
    const ssize_t count = ::read(pipe.read.get(), part.data(), part.size());
    ASSERT_GT(count, 0);
    got.append(part, 0, static_cast<std::size_t>(count));
  }

  EXPECT_TRUE(got == expected);
  EXPECT_EQ(sink->pending(), 0u);
}

TEST_F(ByteSinkTest, WhatOneCallDoesNotTakeOfManyPiecesIsQueuedInItsOrder) {
  Pipe pipe = make_pipe();
  auto sink = ByteSink::open(pipe.write.get());
  ASSERT_TRUE(sink);
  std::vector<Bytes> texts;
  std::string expected;
  for (std::size_t size = 1; size <= 100; ++size) {
    texts.push_back(letters(size));
    expected += text_of(texts.back());
  }

  sink->push_or_write(std::vector<ByteView>(texts.begin(), texts.end()));

  ASSERT_TRUE(sink->flush());
  EXPECT_EQ(sink->pending(), 0u);
  pipe.write.reset();
  sink = tl::unexpected(Error{});
  EXPECT_EQ(read_text(pipe.read.get()), expected);
}

// Both are asked in the same process: what a user may have of pipes is no test's to say.
TEST_F(ByteSinkTest, APipeThatWasFullIsAskedToHoldMore) {
  const auto most_of_another = [] {
    const Pipe other = make_pipe();
    return ::fcntl(other.read.get(), F_SETPIPE_SZ, ByteSink::kFloodPipeBytes);
  };
  Pipe pipe = make_pipe();
  auto sink = ByteSink::open(pipe.write.get());
  ASSERT_TRUE(sink);
  const int most = most_of_another();
  const int before = ::fcntl(pipe.read.get(), F_GETPIPE_SZ);
  const Bytes sent = letters(ByteSink::kPipeBytes + 1);
  const std::array<ByteView, 1> pieces{sent};

  sink->push_or_write(std::array<ByteView, 1>{ByteView(sent).first(1)});
  EXPECT_EQ(::fcntl(pipe.read.get(), F_GETPIPE_SZ), before);
  sink->push_or_write(pieces);

  EXPECT_EQ(::fcntl(pipe.read.get(), F_GETPIPE_SZ), most > 0 ? most : before);
}

TEST_F(ByteSinkTest, APipeThatIsLargerIsLeftSo) {
  Pipe pipe = make_pipe();
  const int larger = ::fcntl(pipe.read.get(), F_SETPIPE_SZ, 2 * ByteSink::kFloodPipeBytes);
  if (larger < 0) LOOM_SKIP_UNLESS_PROMISED("the user's allowance for pipes is spent");

  const auto sink = ByteSink::open(pipe.write.get());

  ASSERT_TRUE(sink);
  EXPECT_EQ(::fcntl(pipe.read.get(), F_GETPIPE_SZ), larger);
}

TEST_F(ByteSinkTest, TheSharedPipeKeepsItsFlags) {
  Pipe pipe = make_pipe();

  auto sink = ByteSink::open(pipe.write.get());

  ASSERT_TRUE(sink);
  EXPECT_NE(sink->poll_fd(), pipe.write.get());
  EXPECT_EQ(::fcntl(pipe.write.get(), F_GETFL) & O_NONBLOCK, 0);
  EXPECT_EQ(::fcntl(sink->poll_fd(), F_GETFD), FD_CLOEXEC);
}

// The child is another user, so that the pipe cannot be reopened.
TEST_F(ByteSinkTest, APipeOfAnotherUserIsWrittenInPiecesWithoutWaiting) {
  if (::getuid() != 0) LOOM_SKIP_UNLESS_PROMISED("it needs to become another user");
  Pipe pipe = make_pipe();

  const pid_t child = ::fork();
  if (child == 0) {
    if (::setuid(65'534) != 0) ::_exit(2);
    ::alarm(10);
    auto sink = ByteSink::open(pipe.write.get());
    if (!sink || sink->poll_fd() != pipe.write.get() || !sink->can_wait()) ::_exit(3);
    sink->push(letters(300'000));
    if (!sink->flush() || sink->pending() == 0) ::_exit(4);
    ::_exit(300'000 - sink->pending() == ByteSink::kPipeBytes ? 0 : 5);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  pipe.write.reset();

  EXPECT_EQ(status, 0);
  // Not EXPECT_EQ: a quarter of a million letters explain nothing.
  EXPECT_TRUE(read_text(pipe.read.get()) == text_of(letters(ByteSink::kPipeBytes)));
}

TEST_F(ByteSinkTest, AFullSocketIsNotWaitedForAndKeepsItsFlags) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const UniqueFd near(ends[0]);
  const UniqueFd far(ends[1]);
  auto sink = ByteSink::open(near.get());
  ASSERT_TRUE(sink);
  sink->push(letters(4'000'000));

  ASSERT_TRUE(sink->flush());

  EXPECT_GT(sink->pending(), 0u);
  EXPECT_EQ(::fcntl(near.get(), F_GETFL) & O_NONBLOCK, 0);
  char byte = 0;
  ASSERT_EQ(::read(far.get(), &byte, 1), 1);
  EXPECT_EQ(byte, 'a');
}

TEST_F(ByteSinkTest, ARegularFileTakesEverything) {
  const TemporaryDirectory directory;
  const std::string path = directory / "out";
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  auto sink = ByteSink::open(file.get());
  ASSERT_TRUE(sink);
  sink->push(letters(300'000));

  ASSERT_TRUE(sink->flush());

  EXPECT_FALSE(sink->can_wait());
  EXPECT_EQ(sink->pending(), 0u);
  EXPECT_EQ(std::filesystem::file_size(path), 300'000u);
}

TEST_F(ByteSinkTest, AReaderThatIsGoneIsAnError) {
  Pipe pipe = make_pipe();
  auto sink = ByteSink::open(pipe.write.get());
  ASSERT_TRUE(sink);
  pipe.read.reset();
  sink->push(letters(1));

  const auto result = sink->flush();

  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().sys_errno, EPIPE);
}

TEST_F(ByteSinkTest, AReaderThatWasGoneBeforeIsAnErrorToo) {
  Pipe pipe = make_pipe();
  pipe.read.reset();
  auto sink = ByteSink::open(pipe.write.get());
  ASSERT_TRUE(sink);
  sink->push(letters(1));

  const auto result = sink->flush();

  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().sys_errno, EPIPE);
}

TEST_F(ByteSinkTest, AClosedDescriptorIsNoSink) {
  Pipe pipe = make_pipe();
  const int number = pipe.write.get();
  pipe.write.reset();

  const auto sink = ByteSink::open(number);

  ASSERT_FALSE(sink);
  EXPECT_EQ(sink.error().sys_errno, EBADF);
}

TEST_F(ByteSinkTest, ShortWritesKeepTheOrderOfFrames) {
  Syscalls syscalls = real_syscalls();
  syscalls.write = [](int fd, const void* data, std::size_t size) {
    return ::write(fd, data, std::min<std::size_t>(size, 3));
  };
  Pipe pipe = make_pipe();
  {
    auto sink = ByteSink::open(pipe.write.get(), syscalls);
    ASSERT_TRUE(sink);
    for (const char* word : {"first,", "", "second,", "third"}) {
      const ByteView view = as_bytes(word);
      sink->push(Bytes(view.begin(), view.end()));
    }
    ASSERT_TRUE(sink->flush());
  }
  pipe.write.reset();

  EXPECT_EQ(read_text(pipe.read.get()), "first,second,third");
}

}  // namespace
}  // namespace loom::host
