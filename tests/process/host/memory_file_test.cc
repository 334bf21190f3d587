#include "host/memory_file.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

#include "host/add_seals.h"
#include "process_support.h"
#include "tests/support/promised.h"

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

TEST(MemoryFileTest, InTwoStepsItIsTheSameAndNobodyMayWriteMeanwhile) {
  auto begun = begin_memory_file("loom-test");
  ASSERT_TRUE(begun);
  struct stat about {};
  ASSERT_EQ(::fstat(begun->get(), &about), 0);
  EXPECT_EQ(about.st_mode & 07777U, 0400U);

  const auto file = finish_memory_file("loom-test", std::move(*begun), as_bytes("hello"));

  ASSERT_TRUE(file);
  EXPECT_EQ(read_text(file->get()), "hello");
  expect_unchangeable(file->get());
}

TEST(MemoryFileTest, NoDescriptorOfItCanChangeIt) {
  const auto file = make_memory_file("loom-test", as_bytes("hello"));
  ASSERT_TRUE(file);

  expect_unchangeable(file->get());

  EXPECT_EQ(read_text(file->get()), "hello");
}

TEST(MemoryFileTest, AnotherUserCannotEvenReopenItForWriting) {
  if (::getuid() != 0) LOOM_SKIP_UNLESS_PROMISED("it needs to become another user");
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

ino_t inode_of(int fd) {
  struct stat status {};
  EXPECT_EQ(::fstat(fd, &status), 0);
  return status.st_ino;
}

TEST(MemoryFileTest, TheSameBytesAreLentAgainWithAnOffsetOfTheirOwn) {
  MemoryFiles files;
  const auto first = files.lend("loom-test", as_bytes("hello"));
  ASSERT_TRUE(first);
  EXPECT_EQ(read_text(first->get()), "hello");
  const auto again = files.lend("loom-test", as_bytes("hello"));
  const auto third = files.lend("loom-test", as_bytes("hello"));
  ASSERT_TRUE(again && third);

  EXPECT_EQ(inode_of(again->get()), inode_of(first->get()));
  EXPECT_EQ(::fcntl(again->get(), F_GETFD), FD_CLOEXEC);
  EXPECT_EQ(read_text(again->get()), "hello") << "the first one was read to its end";
  EXPECT_EQ(read_text(third->get()), "hello");
  expect_unchangeable(again->get());
}

TEST(MemoryFileTest, WhatIsOpenedAheadIsLentOnceAndIsNotAnotherFile) {
  MemoryFiles files;
  files.open_ahead();  // of nothing
  const auto first = files.lend("loom-test", as_bytes("hello"));
  ASSERT_TRUE(first);
  EXPECT_EQ(read_text(first->get()), "hello");
  const std::size_t before = open_descriptors();
  files.open_ahead();
  files.open_ahead();
  EXPECT_EQ(open_descriptors(), before + 1);

  const auto ahead = files.lend("loom-test", as_bytes("hello"));
  ASSERT_TRUE(ahead);
  EXPECT_EQ(open_descriptors(), before + 1) << "that was the one";
  EXPECT_EQ(inode_of(ahead->get()), inode_of(first->get()));
  EXPECT_EQ(::fcntl(ahead->get(), F_GETFD), FD_CLOEXEC);
  EXPECT_EQ(read_text(ahead->get()), "hello");
  EXPECT_EQ(read_text(files.lend("loom-test", as_bytes("hello"))->get()), "hello");
  expect_unchangeable(ahead->get());
}

TEST(MemoryFileTest, OtherBytesAreAnotherFile) {
  MemoryFiles files;
  const auto first = files.lend("loom-test", as_bytes("hello"));
  const auto other = files.lend("loom-test", as_bytes("hullo"));
  const auto empty = files.lend("loom-test", {});
  ASSERT_TRUE(first && other && empty);

  EXPECT_NE(inode_of(other->get()), inode_of(first->get()));
  EXPECT_EQ(read_text(other->get()), "hullo");
  EXPECT_EQ(read_text(empty->get()), "");
  EXPECT_EQ(read_text(files.lend("loom-test", as_bytes("hullo"))->get()), "hullo");
}

TEST(MemoryFileTest, NoMoreIsKeptThanOneLaunchNeeds) {
  const auto open_ones = [] { return open_descriptors(); };
  const std::size_t before = open_ones();
  MemoryFiles files;

  for (int i = 0; i < 20; ++i) ASSERT_TRUE(files.lend("loom-test", as_bytes(std::to_string(i))));
  EXPECT_EQ(open_ones(), before + 2);
  ASSERT_TRUE(files.lend("loom-test", Bytes(1u << 20)));
  EXPECT_EQ(open_ones(), before + 2) << "a large one is not kept";
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

constexpr int kWriteSeals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW;

// A memory file with a page that a pipe refers to, as reclaim or DAMON do for a moment.
struct PinnedFile {
  PinnedFile() {
    EXPECT_EQ(::pwrite(file.get(), "x", 1, 0), 1);
    int ends[2] = {-1, -1};
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    pipe.reset(ends[0]);
    const UniqueFd writer(ends[1]);
    off_t offset = 0;
    EXPECT_EQ(::splice(file.get(), &offset, writer.get(), nullptr, 1, 0), 1);
  }

  UniqueFd file{::memfd_create("loom-test", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  UniqueFd pipe;
};

TEST(AddSealsTest, APageThatSomebodyLooksAtForAMomentIsWaitedFor) {
  PinnedFile pinned;
  ASSERT_NE(::fcntl(pinned.file.get(), F_ADD_SEALS, kWriteSeals), 0);
  ASSERT_EQ(errno, EBUSY);
  std::thread passer_by([&pinned] {
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    pinned.pipe.reset();
  });

  const int error = add_seals(pinned.file.get(), kWriteSeals);
  passer_by.join();

  EXPECT_EQ(error, 0);
  EXPECT_EQ(::fcntl(pinned.file.get(), F_GET_SEALS), kWriteSeals);
}

TEST(AddSealsTest, APageThatStaysInUseIsAnErrorInTheEnd) {
  const PinnedFile pinned;

  EXPECT_EQ(add_seals(pinned.file.get(), kWriteSeals), EBUSY);
  EXPECT_EQ(::fcntl(pinned.file.get(), F_GET_SEALS), 0);
}

TEST(AddSealsTest, WhatWaitingCannotHelpFailsAtOnce) {
  const UniqueFd sealed(::memfd_create("loom-test", MFD_CLOEXEC));

  EXPECT_EQ(add_seals(sealed.get(), kWriteSeals), EPERM);
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
