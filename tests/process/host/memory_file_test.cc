#include "host/memory_file.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <fstream>
#include <string>

#include "process_support.h"

namespace loom::host {
namespace {

std::string reopened(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

// Whether nothing that can be done to a file, through any descriptor, changes its bytes.
void expect_unchangeable(int fd) {
  const UniqueFd writer(::open(reopened(fd).c_str(), O_RDWR | O_CLOEXEC));
  for (const int way : {fd, writer.get()}) {
    EXPECT_LT(::pwrite(way, "x", 1, 0), 0);
    EXPECT_NE(::ftruncate(way, 0), 0);
    EXPECT_NE(::ftruncate(way, 1 << 20), 0);
    EXPECT_EQ(::mmap(nullptr, 1, PROT_READ | PROT_WRITE, MAP_SHARED, way, 0), MAP_FAILED);
    EXPECT_NE(::fcntl(way, F_ADD_SEALS, F_SEAL_FUTURE_WRITE), 0);
  }
}

TEST(MemoryFileTest, ItHoldsTheBytesFromOffsetZero) {
  const auto file = make_memory_file("loom-test", as_bytes("hello"));

  ASSERT_TRUE(file);
  EXPECT_EQ(::lseek(file->get(), 0, SEEK_CUR), 0);
  EXPECT_EQ(read_text(file->get()), "hello");
  EXPECT_EQ(::fcntl(file->get(), F_GETFD), FD_CLOEXEC);
}

TEST(MemoryFileTest, NoDescriptorOfItCanChangeIt) {
  const auto file = make_memory_file("loom-test", as_bytes("hello"));
  ASSERT_TRUE(file);

  expect_unchangeable(file->get());

  EXPECT_EQ(read_text(file->get()), "hello");
}

TEST(MemoryFileTest, AnotherUserCannotEvenReopenItForWriting) {
  if (::getuid() != 0) GTEST_SKIP() << "needs to become another user";
  const auto file = make_memory_file("loom-test", as_bytes("hello"));
  ASSERT_TRUE(file);

  const pid_t child = ::fork();
  if (child == 0) {
    if (::setuid(65'534) != 0) ::_exit(2);
    ::_exit(::open(reopened(file->get()).c_str(), O_WRONLY) < 0 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);

  EXPECT_EQ(status, 0);
}

TEST(MemoryFileTest, AnExecutableCopyRunsByDescriptorAndCannotBeChanged) {
  const UniqueFd original(::open(LOOM_CHILD_PROBE, O_RDONLY | O_CLOEXEC));
  const auto copy = make_executable_copy("loom-test", original.get(), 64u << 20);
  ASSERT_TRUE(copy) << copy.error().message;
  SpawnRequest request = probe({"session"});
  request.image_fd = copy->get();

  expect_unchangeable(copy->get());

  EXPECT_EQ(output_of(request), "11");
}

TEST(MemoryFileTest, AnExecutableCopyOfSomethingLargerIsRefused) {
  const UniqueFd original(::open(LOOM_CHILD_PROBE, O_RDONLY | O_CLOEXEC));

  const auto copy = make_executable_copy("loom-test", original.get(), 100);

  ASSERT_FALSE(copy);
  EXPECT_EQ(copy.error().code, ErrorCode::kInvalidRequest);
}

TEST(MemoryFileTest, AnEmptyFileIsAFile) {
  const auto file = make_memory_file("loom-test", {});

  ASSERT_TRUE(file);
  EXPECT_EQ(read_text(file->get()), "");
}

TEST(ReadAllTest, ExactlyTheLimitIsReadAndOneMoreIsNot) {
  const TemporaryDirectory directory;
  const std::string path = directory / "file";
  std::ofstream(path) << std::string(100'000, 'x');
  const UniqueFd at_limit(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const UniqueFd over_limit(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const UniqueFd cut(::open(path.c_str(), O_RDONLY | O_CLOEXEC));

  const auto all = read_all(at_limit.get(), 100'000, "the file");
  const auto too_much = read_all(over_limit.get(), 99'999, "the file");
  const auto part = read_all(cut.get(), 99'999, "the file", true);

  ASSERT_TRUE(all);
  EXPECT_EQ(all->size(), 100'000u);
  ASSERT_FALSE(too_much);
  EXPECT_NE(too_much.error().message.find("the file"), std::string::npos);
  ASSERT_TRUE(part);
  EXPECT_EQ(part->size(), 99'999u);
}

}  // namespace
}  // namespace loom::host
