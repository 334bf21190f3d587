#include "guard/reopen.h"

#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <array>
#include <string>

#include "guard_support.h"

namespace loom::guard {
namespace {

class ReopenTest : public ::testing::Test {
 protected:
  ReopenTest() {
    tree_.directory("/w/d");
    tree_.file("/w/d/f");
    tree_.file("/o/f", "theirs");
  }
  // What a reopening of a path says that was frozen when it was this object.
  [[nodiscard]] std::string reopened(std::string_view name, const FileIdentity& frozen) const {
    const auto handle = reopen(path(tree_.at(name)), frozen);
    if (!handle) return handle.error().message;
    struct stat about {};
    EXPECT_EQ(::fstat(handle->get(), &about), 0);
    EXPECT_EQ(about.st_ino, frozen.inode);
    EXPECT_NE(::fcntl(handle->get(), F_GETFL) & O_PATH, 0);
    EXPECT_EQ(::fcntl(handle->get(), F_GETFD), FD_CLOEXEC);
    return "opened";
  }
  [[nodiscard]] std::string redirected(std::string_view name, std::string_view why) const {
    return "redirected: " + tree_.at(name) + ' ' + std::string(why);
  }

  Tree tree_;
};

TEST_F(ReopenTest, EveryKindOfObjectIsOpenedAndNothingWaits) {
  tree_.fifo("/w/fifo");
  tree_.socket("/w/socket");
  const Deadline deadline(10);

  for (const char* name : {"/w/d", "/w/d/f", "/w/fifo", "/w/socket"}) {
    EXPECT_EQ(reopened(name, tree_.identity(name)), "opened") << name;
  }
  struct stat root {};
  ASSERT_EQ(::stat("/", &root), 0);
  EXPECT_TRUE(reopen(AbsolutePath::root(), {.device = root.st_dev, .inode = root.st_ino}));
}

TEST_F(ReopenTest, ALinkThatWasPlantedSinceIsRefused) {
  const FileIdentity file = tree_.identity("/w/d/f");
  const FileIdentity theirs = tree_.identity("/o/f");
  std::filesystem::rename(tree_.at("/w/d"), tree_.at("/w/moved"));
  tree_.link(tree_.at("/o"), "/w/d");
  EXPECT_EQ(reopened("/w/d/f", file), redirected("/w/d/f", "is reached through a link now"));
  EXPECT_EQ(reopened("/w/d/f", theirs), redirected("/w/d/f", "is reached through a link now"))
      << "even if that led to the very object";

  std::filesystem::rename(tree_.at("/w/moved/f"), tree_.at("/w/moved/g"));
  tree_.link("g", "/w/moved/f");
  EXPECT_EQ(reopened("/w/moved/f", file),
            redirected("/w/moved/f", "is reached through a link now"));
  EXPECT_EQ(reopened("/w/moved/g", file), "opened");
}

TEST_F(ReopenTest, AnotherObjectUnderTheNameIsRefused) {
  const FileIdentity file = tree_.identity("/w/d/f");
  const FileIdentity directory = tree_.identity("/w/d");
  std::filesystem::rename(tree_.at("/w/d"), tree_.at("/w/moved"));
  tree_.directory("/w/d");
  tree_.file("/w/d/f");

  EXPECT_EQ(reopened("/w/d/f", file), redirected("/w/d/f", "is another object now"));
  EXPECT_EQ(reopened("/w/d", directory), redirected("/w/d", "is another object now"));
}

TEST_F(ReopenTest, WhatIsGoneIsRefused) {
  const FileIdentity file = tree_.identity("/w/d/f");
  std::filesystem::remove(tree_.at("/w/d/f"));

  const std::string gone = "is not there any more";
  EXPECT_EQ(reopened("/w/d/f", file), redirected("/w/d/f", gone));
  EXPECT_EQ(reopened("/w/d/f/below", file), redirected("/w/d/f/below", gone));
  tree_.file("/w/d/f");
  EXPECT_EQ(reopened("/w/d/f/below", file), redirected("/w/d/f/below", gone));
}

TEST_F(ReopenTest, ARefusalOfTheKernelsIsTheMachinesAndNamesThePath) {
  const FileIdentity file = tree_.identity("/w/d/f");
  tree_.directory("/w/d", 0);
  const OrdinaryUser ordinary;

  const auto handle = reopen(path(tree_.at("/w/d/f")), file);

  ASSERT_FALSE(handle);
  EXPECT_EQ(handle.error().code, ErrorCode::kSystem);
  EXPECT_EQ(handle.error().sys_errno, EACCES);
  EXPECT_EQ(handle.error().message, "reopen " + tree_.at("/w/d/f") + ": Permission denied");
}

TEST_F(ReopenTest, ANameWithControlBytesIsEscapedInTheRefusal) {
  const auto handle = reopen(path(tree_.at("/w/a\nb")), {});

  ASSERT_FALSE(handle);
  EXPECT_EQ(handle.error().message,
            "redirected: " + tree_.at("/w/a\\x0ab") + " is not there any more");
}

// Lets openat2(2) fail with `error` for the rest of this process.
bool forbid_openat2(unsigned error) {
  std::array<sock_filter, 4> program = {{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog filter{.len = program.size(), .filter = program.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

// guard 2.14: kernels before 5.6, and a container's filter
TEST_F(ReopenTest, WithoutTheOneCallEveryComponentIsWalkedAndTheAnswersAreTheSame) {
  const FileIdentity file = tree_.identity("/w/d/f");
  const FileIdentity directory = tree_.identity("/w/d");
  tree_.directory("/w/links");
  tree_.link("../d", "/w/links/d");
  tree_.link("../d/f", "/w/links/f");
  for (const unsigned error : {unsigned{ENOSYS}, unsigned{EPERM}}) {
    const pid_t child = ::fork();
    if (child == 0) {
      if (!forbid_openat2(error)) ::_exit(2);
      const std::string link = "is reached through a link now";
      const std::string gone = "is not there any more";
      EXPECT_EQ(::syscall(SYS_openat2, AT_FDCWD, "/", nullptr, 0), -1);
      EXPECT_EQ(errno, static_cast<int>(error));
      EXPECT_EQ(reopened("/w/d/f", file), "opened");
      EXPECT_EQ(reopened("/w/d", directory), "opened");
      EXPECT_EQ(reopened("/w/links/d/f", file), redirected("/w/links/d/f", link));
      EXPECT_EQ(reopened("/w/links/d", directory), redirected("/w/links/d", link));
      EXPECT_EQ(reopened("/w/links/f", file), redirected("/w/links/f", link));
      EXPECT_EQ(reopened("/w/d/none", file), redirected("/w/d/none", gone));
      EXPECT_EQ(reopened("/w/d/f/below", file), redirected("/w/d/f/below", gone));
      EXPECT_EQ(reopened("/o/f", file), redirected("/o/f", "is another object now"));
      ::_exit(::testing::Test::HasFailure() ? 1 : 0);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << "errno " << error << "; status " << status;
  }
}

}  // namespace
}  // namespace loom::guard
