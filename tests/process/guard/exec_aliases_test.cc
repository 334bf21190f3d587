#include <gtest/gtest.h>
#include <linux/fuse.h>
#include <sys/mount.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "guard/doubtful_file_system.h"
#include "guard_support.h"
#include "lowering_support.h"

// What the mounts of the host make of a lowering. Each test has mounts of its own.

namespace loom::guard {
namespace {

using law::Default;

class ExecAliasesTest : public LoweringTest {
 protected:
  void make(const std::vector<std::string>& names) const {
    for (const std::string& name : names) {
      if (name.ends_with('/')) {
        tree_.directory(name.substr(0, name.size() - 1));
      } else {
        tree_.file(name, "#!", 0755);
      }
    }
  }
  // Of a file system of a process's own.
  static std::string owner() {
    return ",user_id=" + std::to_string(::geteuid()) + ",group_id=" + std::to_string(::getegid());
  }
  void show_again(const std::string& what, const std::string& where,
                  unsigned long flags = MS_REC) const {
    tree_.directory(where);
    ASSERT_TRUE(bind_mount(tree_.at(what), tree_.at(where), flags));
  }
};

// guard 9.7: 131
TEST_F(ExecAliasesTest, ADirectoryThatIsExcludedUnderItsOtherNameIsLeftOut) {
  make({"/w/x/", "/w/x/bin/", "/w/x/bin/t", "/w/x/a", "/w/x/c/"});
  expect_with_own_mounts([&] {
    show_again("/w/x", "/w/y");

    const Lowered got = lower(table({"+dir /w/y", "-dir /w/x/bin"}), {readable("/w")});

    EXPECT_EQ(got.text(), "/w/y/a /w/y/c/");
    EXPECT_EQ(lower(table({"+dir /w/y", "-dir /o/bin"}), {readable("/w")}).text(), "/w/y/");
  });
}

// guard 9.7: 132, as far as rules go
TEST_F(ExecAliasesTest, WhatLeadsToAMountThatShowsAnExcludedFileAgainIsListed) {
  make({"/w/x/", "/w/x/k", "/w/x/a", "/w/m/", "/w/m/n/", "/w/m/b", "/w/q/"});
  expect_with_own_mounts([&] {
    show_again("/w/x", "/w/m/n/o");

    const Lowered got = lower(table({"+dir /w/m", "-file /w/x/k"}), {readable("/w")});
    const Lowered all = lower(table({"-file /w/x/k"}, Default::kAllow), {readable("/w")});

    EXPECT_EQ(got.text(), "/w/m/b /w/m/n/o/a");
    EXPECT_EQ(all.text(), "/w/m/b /w/m/n/o/a /w/q/ /w/x/a");
  });
}

TEST_F(ExecAliasesTest, AMountOfTheExcludedDirectoryItselfIsLeftOut) {
  make({"/w/x/", "/w/x/t", "/o/m/", "/o/b"});
  expect_with_own_mounts([&] {
    show_again("/w/x", "/o/m/here");

    EXPECT_EQ(lower(table({"+dir /o", "-dir /w/x"}), {readable("/o")}).text(), "/o/b");
    EXPECT_EQ(lower(table({"+dir /o", "-dir /w/z"}), {readable("/o")}).text(), "/o/");
  });
}

// Only the excluded name is a mount point. Where the object has its own name, none tells of it.
TEST_F(ExecAliasesTest, WhatIsExcludedByAMountsNameIsLeftOutUnderItsOwn) {
  make({"/w/a/", "/w/a/x/", "/w/a/x/t", "/w/a/x/d/", "/w/a/x/d/u", "/w/a/b"});
  expect_with_own_mounts([&] {
    show_again("/w/a/x", "/o/m");

    const auto lowered = [&](const std::string& denied) {
      return lower(table({denied}, Default::kAllow), {writable("/w/a")}).text();
    };
    EXPECT_EQ(lowered("-dir /o/m"), "/w/a/b");
    EXPECT_EQ(lowered("-dir /o/m/d"), "/w/a/b /w/a/x/t");
    EXPECT_EQ(lowered("-file /o/m/t"), "/w/a/b /w/a/x/d/");
    EXPECT_EQ(lowered("-dir /o/n"), "/w/a/");
  });
}

TEST_F(ExecAliasesTest, AnAbsentNameIsExcludedUnderTheOtherNameOfItsDirectoryToo) {
  make({"/w/x/", "/w/x/a", "/w/y/"});
  expect_with_own_mounts([&] {
    show_again("/w/x", "/w/y/m");

    EXPECT_EQ(lower(table({"+dir /w/y", "-file /w/x/evil"}), {writable("/w")}).text(), "/w/y/m/a");
  });
}

// A rule is of the directory, whatever its name: one that would do under the name where nothing is
// excluded must not hold under the other.
TEST_F(ExecAliasesTest, ADirectoryThatIsListedUnderOneNameIsListedUnderAll) {
  make({"/w/x/", "/w/x/a", "/w/e/", "/w/e/t", "/w/y/"});
  expect_with_own_mounts([&] {
    show_again("/w/x", "/w/y", 0);
    show_again("/w/e", "/w/x/m");
    ASSERT_EQ(::umount(tree_.at("/w/y").c_str()), 0);
    show_again("/w/x", "/w/y", 0);

    const Lowered got = lower(table({"+dir /w/x", "+dir /w/y", "-dir /w/e"}), {readable("/w")});

    EXPECT_EQ(std::count(got.objects.begin(), got.objects.end(), tree_.identity("/w/x")), 0)
        << got.text();
    EXPECT_EQ(got.rules.front(), "/w/x/a");
  });
}

TEST_F(ExecAliasesTest, ACopyOfATreeWithAnAliasInItIsListedToo) {
  make({"/w/e/", "/w/e/t", "/w/x/", "/w/x/a", "/w/x/m/", "/o/b", "/o/n/"});
  expect_with_own_mounts([&] {
    show_again("/w/e", "/w/x/m/alias");
    show_again("/w/x", "/o/n/copy");

    const Lowered got = lower(table({"+dir /o", "-dir /w/e"}), {readable("/o")});

    EXPECT_EQ(got.text(), "/o/b /o/n/copy/a");
  });
}

TEST_F(ExecAliasesTest, AFileThatIsExcludedUnderItsDirectorysOtherNameIsNoRule) {
  make({"/w/x/", "/w/x/k", "/w/x/a", "/w/y/"});
  expect_with_own_mounts([&] {
    show_again("/w/x", "/w/y");

    const Lowered got =
        lower(table({"+file /w/y/k", "+file /w/y/a", "-file /w/x/K"}), {readable("/w")});

    EXPECT_EQ(got.text(), "/w/y/a");
  });
}

// guard 0.8: a mount of another file system may be dead
TEST_F(ExecAliasesTest, AMountOfAnotherFileSystemIsNotOpened) {
  make({"/w/x/", "/w/x/k", "/o/slow/"});
  if (::access("/dev/fuse", R_OK | W_OK) != 0)
    GTEST_SKIP() << "there is no /dev/fuse for this user";
  expect_with_own_mounts([&] {
    const Deadline deadline(20);
    const UniqueFd fuse(::open("/dev/fuse", O_RDWR | O_CLOEXEC));
    ASSERT_TRUE(fuse);
    const std::string options = "fd=" + std::to_string(fuse.get()) + ",rootmode=40000" + owner();
    // Nobody answers: whoever looks at it waits for ever.
    ASSERT_EQ(::mount("loom", tree_.at("/o/slow").c_str(), "fuse", 0, options.c_str()), 0);

    EXPECT_EQ(lower(table({"+dir /w", "-file /w/x/k"}), {readable("/w")}).text(), "");
    ASSERT_EQ(::umount2(tree_.at("/o/slow").c_str(), MNT_DETACH), 0);
  });
}

// guard 9.7: 153
TEST_F(ExecAliasesTest, ALoopOfBindMountsUnderAListedDirectoryEnds) {
  make({"/w/d/", "/w/d/a", "/w/d/k", "/w/d/loop/"});
  expect_with_own_mounts([&] {
    show_again("/w", "/w/d/loop");
    show_again("/w", "/w/d/loop/d/loop");

    const Lowered got = lower(table({"+dir /w", "-file /w/d/k"}), {readable("/w")});

    EXPECT_EQ(got.text(), "/w/d/a");
  });
}

TEST_F(ExecAliasesTest, ABareNameIsNotLookedForInAWrittenDirectoryUnderItsOtherName) {
  make({"/w/x/", "/w/x/curl", "/o/curl", "/o/a"});
  expect_with_own_mounts([&] {
    show_again("/w/x", "/o/m");
    const law::Table both = table({"+dir /o", "-name curl"});

    EXPECT_EQ(lower(both, {readable("/o"), writable("/w/x")}).text(), "/o/a /o/m/");
    EXPECT_EQ(lower(both, {readable("/o"), readable("/w/x")}).text(), "/o/a");
    make({"/w/x/d/"});
    EXPECT_EQ(lower(both, {readable("/o"), writable("/w/x/d")}).text(), "/o/a /o/m/")
        << "a region beneath counts too";
  });
}

// Answers as little as it takes to look at one directory.
class FuseServer {
 public:
  explicit FuseServer(int device) : device_(device) {}

  [[noreturn]] void serve() const {
    std::vector<char> request(FUSE_MIN_READ_BUFFER * 4);
    for (;;) {
      const ssize_t got = ::read(device_, request.data(), request.size());
      if (got < 0) ::_exit(0);
      fuse_in_header header{};
      std::memcpy(&header, request.data(), sizeof header);
      answer(header);
    }
  }

 private:
  void answer(const fuse_in_header& request) const {
    if (request.opcode == FUSE_INIT) {
      fuse_init_out about{};
      about.major = FUSE_KERNEL_VERSION;
      about.minor = FUSE_KERNEL_MINOR_VERSION;
      about.max_write = 4096;
      reply(request, about);
    } else if (request.opcode == FUSE_GETATTR) {
      fuse_attr_out about{};
      about.attr.ino = 1;
      about.attr.mode = S_IFDIR | 0755;
      about.attr.nlink = 2;
      reply(request, about);
    } else if (request.opcode == FUSE_STATFS) {
      reply(request, fuse_statfs_out{});
    } else {
      const fuse_out_header header{
          .len = sizeof header, .error = -ENOSYS, .unique = request.unique};
      static_cast<void>(::write(device_, &header, sizeof header) < 0);
    }
  }
  template <class Body>
  void reply(const fuse_in_header& request, const Body& body) const {
    std::vector<char> all(sizeof(fuse_out_header) + sizeof body);
    const fuse_out_header header{
        .len = static_cast<std::uint32_t>(all.size()), .error = 0, .unique = request.unique};
    std::memcpy(all.data(), &header, sizeof header);
    std::memcpy(all.data() + sizeof header, &body, sizeof body);
    static_cast<void>(::write(device_, all.data(), all.size()) < 0);
  }

  int device_;
};

TEST_F(ExecAliasesTest, ARootOnAFileSystemThatMayNotHonourARuleIsTold) {
  make({"/w/a", "/o/fuse/"});
  if (::access("/dev/fuse", R_OK | W_OK) != 0) {
    GTEST_SKIP() << "there is no /dev/fuse for this user";
  }
  expect_with_own_mounts([&] {
    const Deadline deadline(20);
    const UniqueFd device(::open("/dev/fuse", O_RDWR | O_CLOEXEC));
    const std::string options = "fd=" + std::to_string(device.get()) + ",rootmode=40000" + owner();
    ASSERT_EQ(::mount("loom", tree_.at("/o/fuse").c_str(), "fuse", 0, options.c_str()), 0);
    const pid_t server = ::fork();
    if (server == 0) FuseServer(device.get()).serve();

    const Lowered got = lower(table({"+dir /w", "+dir /o/fuse"}), {readable("/w")});
    const Lowered inside = lower(table({"+dir /o", "-file /o/x"}), {readable("/o")});
    const Lowered ordinary = lower(table({"+dir /w"}), {readable("/w")});

    EXPECT_EQ(got.text(), "/o/fuse/ /w/");
    ASSERT_EQ(got.doubtful.size(), 1U);
    EXPECT_EQ(got.doubtful[0], tree_.at("/o/fuse") + " lies on fuse, which may not honour a rule");
    EXPECT_EQ(inside.doubtful, got.doubtful) << "a rule of its own, though it is no root";
    EXPECT_TRUE(ordinary.doubtful.empty());
    EXPECT_EQ(::umount2(tree_.at("/o/fuse").c_str(), MNT_DETACH), 0);
    EXPECT_EQ(::kill(server, SIGKILL), 0);
    EXPECT_EQ(::waitpid(server, nullptr, 0), server);
  });
}

}  // namespace
}  // namespace loom::guard
