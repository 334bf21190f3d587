#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <string>
#include <utility>

#include "host/memory_file.h"
#include "host/posix/memory_file.h"
#include "process_support.h"

namespace loom::host {
namespace {

std::string letters(std::size_t count) {
  std::string text(count, ' ');
  for (std::size_t i = 0; i < count; ++i) text[i] = static_cast<char>('a' + i % 26);
  return text;
}

// In two steps, as in one.
Result<UniqueFd> in_two_steps(ByteView bytes) {
  auto begun = begin_memory_file("loom-test");
  if (!begun) return begun;
  return finish_memory_file("loom-test", std::move(*begun), bytes);
}

// A FIFO, a socket or a regular file.
mode_t kind_of(const UniqueFd& file) {
  struct stat about {};
  return ::fstat(file.get(), &about) == 0 ? about.st_mode & S_IFMT : 0;
}

TEST(MemoryFilePosixTest, EverySizeArrivesWholeAndEnds) {
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{4'096}, std::size_t{65'536},
        std::size_t{65'537}, std::size_t{150'000}, std::size_t{300'000}, std::size_t{16'777'216}}) {
    SCOPED_TRACE(size);
    const std::string text = letters(size);
    const auto file = make_memory_file("loom-test", as_bytes(text));

    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(::fcntl(file->get(), F_GETFD), FD_CLOEXEC);
    EXPECT_EQ(::fcntl(file->get(), F_GETFL) & O_NONBLOCK, 0);
    EXPECT_TRUE(read_text(file->get()) == text);
    const auto again = in_two_steps(as_bytes(text));
    ASSERT_TRUE(again);
    EXPECT_TRUE(read_text(again->get()) == text);
  }
}

TEST(MemoryFilePosixTest, TheFirstKindThatHasRoomIsTaken) {
  const auto small = make_memory_file("loom-test", as_bytes("small"));
  const auto middle = make_memory_file("loom-test", as_bytes(letters(100'000)));
  const auto large = make_memory_file("loom-test", as_bytes(letters(4'000'000)));
  ASSERT_TRUE(small && middle && large);

  EXPECT_EQ(kind_of(*small), S_IFIFO);
  EXPECT_EQ(kind_of(*middle), S_IFSOCK);
  EXPECT_EQ(kind_of(*large), S_IFREG);
}

TEST(MemoryFilePosixTest, NoKindCanBeWrittenToByWhoReadsIt) {
  for (const auto kind : {&in_pipe, &in_socket, &in_unlinked_file}) {
    ::signal(SIGPIPE, SIG_IGN);
    const auto file = kind(as_bytes("hello"));
    ASSERT_TRUE(file);
    EXPECT_LT(::write(file->get(), "x", 1), 0);
    EXPECT_EQ(read_text(file->get()), "hello");
    ::signal(SIGPIPE, SIG_DFL);
  }
}

TEST(MemoryFilePosixTest, TheFileHasNoNameAnyMore) {
  const auto file = in_unlinked_file(as_bytes("hello"));

  ASSERT_TRUE(file);
  struct stat about {};
  ASSERT_EQ(::fstat(file->get(), &about), 0);
  EXPECT_EQ(about.st_nlink, 0u);
  EXPECT_EQ(about.st_mode & 0777, 0600u);
}

TEST(MemoryFilePosixTest, WhatDoesNotFitIsNeitherWaitedForNorLeftOpen) {
  const std::size_t before = open_descriptors();
  const std::string text = letters(10'000'000);

  const auto pipe = in_pipe(as_bytes(text));
  const auto socket = in_socket(as_bytes(text));

  ASSERT_FALSE(pipe);
  ASSERT_FALSE(socket);
  EXPECT_EQ(pipe.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(socket.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(open_descriptors(), before);
}

TEST(MemoryFilePosixTest, AChildReadsItAtItsNumber) {
  const auto file = make_memory_file("loom-test", as_bytes("hello\n"));
  ASSERT_TRUE(file);
  SpawnRequest request = probe({"repeat", "6"});
  request.moves = {{.from = file->get(), .to = 6}};

  EXPECT_EQ(output_of(request), "6=hello\n ");
}

TEST(MemoryFilePosixTest, NoCopyIsExecutable) {
  const auto copy = make_executable_copy("loom-test", 0, 1'000);

  ASSERT_FALSE(copy);
  EXPECT_EQ(copy.error().code, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace loom::host
