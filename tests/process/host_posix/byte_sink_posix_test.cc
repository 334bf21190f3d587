// Without a description of its own a sink still never waits and never changes what others share.

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <string>

#include "host/byte_sink.h"
#include "process_support.h"

namespace loom::host {
namespace {

Bytes letters(std::size_t count) {
  Bytes bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>('a' + i % 26);
  return bytes;
}

class ByteSinkPosixTest : public ::testing::Test {
 protected:
  // A sink that waits shows in the alarm.
  ByteSinkPosixTest() {
    ::signal(SIGPIPE, SIG_IGN);
    ::alarm(60);
  }
  ~ByteSinkPosixTest() override {
    ::alarm(0);
    ::signal(SIGPIPE, SIG_DFL);
  }

  // Everything pushed comes out in order, however full the way is in between.
  static void expect_all_through(int writer, int reader, std::size_t size) {
    const int flags = ::fcntl(writer, F_GETFL);
    auto sink = ByteSink::open(writer);
    ASSERT_TRUE(sink);
    EXPECT_TRUE(sink->can_wait());
    EXPECT_EQ(sink->poll_fd(), writer);
    const Bytes sent = letters(size);
    const ByteView whole = sent;
    const std::array pieces{whole.first(1'000), whole.subspan(1'000)};
    sink->push_or_write(pieces);
    ASSERT_TRUE(sink->flush());
    ASSERT_GT(sink->pending(), 0u) << "it is never full";

    std::string got;
    std::string part(65'536, '\0');
    while (got.size() < sent.size()) {
      const ssize_t count = ::read(reader, part.data(), part.size());
      ASSERT_GT(count, 0);
      got.append(part, 0, static_cast<std::size_t>(count));
      ASSERT_TRUE(sink->flush());
    }

    EXPECT_TRUE(got == as_text(sent));
    EXPECT_EQ(sink->pending(), 0u);
    EXPECT_EQ(::fcntl(writer, F_GETFL), flags);
  }
};

TEST_F(ByteSinkPosixTest, AFullPipeIsNotWaitedForAndNothingIsLost) {
  const Pipe pipe = make_pipe();
  expect_all_through(pipe.write.get(), pipe.read.get(), 300'000);
}

TEST_F(ByteSinkPosixTest, AFullSocketIsNotWaitedForAndNothingIsLost) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const UniqueFd near(ends[0]);
  const UniqueFd far(ends[1]);
  expect_all_through(near.get(), far.get(), 4'000'000);
}

TEST_F(ByteSinkPosixTest, ATerminalThatTakesNothingIsNotWaitedFor) {
  const UniqueFd master(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  ASSERT_TRUE(master);
  ASSERT_EQ(::grantpt(master.get()), 0);
  ASSERT_EQ(::unlockpt(master.get()), 0);
  const UniqueFd terminal(::open(::ptsname(master.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
  ASSERT_TRUE(terminal);
  auto sink = ByteSink::open(terminal.get());
  ASSERT_TRUE(sink);
  sink->push(letters(1'000'000));

  ASSERT_TRUE(sink->flush());

  EXPECT_TRUE(sink->can_wait());
  EXPECT_GT(sink->pending(), 0u);
  char byte = 0;
  ASSERT_EQ(::read(master.get(), &byte, 1), 1);
  EXPECT_EQ(byte, 'a');
}

TEST_F(ByteSinkPosixTest, ARegularFileTakesEverything) {
  const TemporaryDirectory directory;
  const std::string path = directory / "out";
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  auto sink = ByteSink::open(file.get());
  ASSERT_TRUE(sink);
  sink->push(letters(300'000));

  ASSERT_TRUE(sink->flush());

  EXPECT_FALSE(sink->can_wait());
  EXPECT_EQ(std::filesystem::file_size(path), 300'000u);
}

TEST_F(ByteSinkPosixTest, AReaderThatIsGoneIsAnError) {
  for (const bool socket : {false, true}) {
    SCOPED_TRACE(socket ? "socket" : "pipe");
    int ends[2];
    ASSERT_EQ(socket ? ::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) : ::pipe(ends), 0);
    UniqueFd reader(ends[0]);
    const UniqueFd writer(ends[1]);
    auto sink = ByteSink::open(writer.get());
    ASSERT_TRUE(sink);
    reader.reset();
    sink->push(letters(1));

    const auto result = sink->flush();

    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().sys_errno, EPIPE);
  }
}

TEST_F(ByteSinkPosixTest, ShortWritesKeepTheOrderOfFrames) {
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
