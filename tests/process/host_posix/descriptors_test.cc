#include "host/descriptors.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <functional>

#include "host/posix/open_descriptors.h"
#include "process_support.h"

namespace loom::host {
namespace {

// In a process of its own, as it closes what the test needs. Which check failed is its status.
int first_failure(const std::function<int()>& check) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(check());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(DescriptorsTest, PipesAreBornCloseOnExecAndAsWanted) {
  const auto blocking = open_pipe();
  const auto other = open_nonblocking_pipe();
  ASSERT_TRUE(blocking && other);
  for (const int fd : {blocking->read_end.get(), blocking->write_end.get()}) {
    EXPECT_EQ(::fcntl(fd, F_GETFD), FD_CLOEXEC);
    EXPECT_EQ(::fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
  }
  for (const int fd : {other->read_end.get(), other->write_end.get()}) {
    EXPECT_EQ(::fcntl(fd, F_GETFD), FD_CLOEXEC);
    EXPECT_NE(::fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
  }
  ASSERT_EQ(::write(blocking->write_end.get(), "x", 1), 1);
  EXPECT_TRUE(becomes_readable(blocking->read_end.get(), 0));
}

TEST(DescriptorsTest, TheHighestOpenOneIsFound) {
  EXPECT_EQ(first_failure([] {
              if (::dup2(0, 700) != 700) return 1;
              if (highest_descriptor() < 700) return 2;
              ::close(700);
              return highest_descriptor() < 700 ? 0 : 3;
            }),
            0);
}

TEST(DescriptorsTest, ClosingFromANumberLeavesThoseBelow) {
  EXPECT_EQ(first_failure([] {
              if (::dup2(0, 50) != 50 || ::dup2(0, 51) != 51 || ::dup2(0, 900) != 900) return 1;
              close_descriptors_from(51);
              if (::fcntl(50, F_GETFD) < 0) return 2;
              if (::fcntl(51, F_GETFD) >= 0) return 3;
              return ::fcntl(900, F_GETFD) >= 0 ? 4 : 0;
            }),
            0);
}

TEST(DescriptorsTest, KeepingFromANumberMarksThoseAbove) {
  EXPECT_EQ(first_failure([] {
              if (::dup2(0, 50) != 50 || ::dup2(0, 900) != 900) return 1;
              keep_descriptors_from(51);
              if (::fcntl(50, F_GETFD) != 0) return 2;
              return ::fcntl(900, F_GETFD) != FD_CLOEXEC ? 3 : 0;
            }),
            0);
}

TEST(DescriptorsTest, AHangUpIsSeenWhateverDataIsLeft) {
  Pipe pipe = make_pipe();
  EXPECT_FALSE(is_hung_up(pipe.read.get()));
  ASSERT_EQ(::write(pipe.write.get(), "x", 1), 1);
  EXPECT_FALSE(is_hung_up(pipe.read.get()));

  pipe.write.reset();

  EXPECT_TRUE(is_hung_up(pipe.read.get()));
}

}  // namespace
}  // namespace loom::host
