#include "host/private_scratch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "host/scratch_remnants.h"
#include "process_support.h"
#include "tests/support/promised.h"

namespace {

// How often a file will still appear in a scratch, after the last look at it and before its
// removal.
int late_files = 0;

}  // namespace

// In the place of the C library's.
extern "C" int unlinkat(int directory, const char* name, int flags) noexcept {
  if (flags == AT_REMOVEDIR && late_files > 0 && std::string_view(name).starts_with("scratch-")) {
    --late_files;
    const std::string late = std::string(name) + "/late";
    ::close(::openat(directory, late.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  }
  return static_cast<int>(::syscall(SYS_unlinkat, directory, name, flags));
}

namespace loom::host {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class PrivateScratchTest : public ::testing::Test {
 protected:
  [[nodiscard]] AbsolutePath parent() const { return *AbsolutePath::parse(place_.str()); }
  [[nodiscard]] PrivateScratch made() const {
    auto scratch = PrivateScratch::make(parent(), "scratch-");
    if (!scratch) {
      ADD_FAILURE() << scratch.error().message;
      std::abort();
    }
    return std::move(*scratch);
  }
  [[nodiscard]] bool nothing_is_left() const { return std::filesystem::is_empty(place_.str()); }

  TemporaryDirectory place_;
};

TEST_F(PrivateScratchTest, ItIsFreshEmptyOursAndGoneAfterwards) {
  const mode_t before = ::umask(0777);
  {
    const PrivateScratch scratch = made();
    struct stat about {};
    ASSERT_EQ(::lstat(scratch.path().str().c_str(), &about), 0);
    EXPECT_TRUE(S_ISDIR(about.st_mode));
    EXPECT_EQ(about.st_mode & 07777, 0700u);
    EXPECT_EQ(about.st_uid, ::geteuid());
    EXPECT_TRUE(std::filesystem::is_empty(scratch.path().str()));
    EXPECT_THAT(std::string(scratch.path().name()), StartsWith("scratch-"));
    EXPECT_EQ(scratch.path().name().size(), std::string("scratch-").size() + 32);
    EXPECT_NE(made().path(), scratch.path());
  }
  ::umask(before);
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(PrivateScratchTest, AMoveMovesTheDutyToRemoveIt) {
  PrivateScratch scratch = made();
  {
    const PrivateScratch taken = std::move(scratch);
    EXPECT_FALSE(nothing_is_left());
  }
  EXPECT_TRUE(nothing_is_left());
  PrivateScratch first = made();
  first = made();
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(place_.str()), {}), 1);
  EXPECT_THAT(first.remove(), IsEmpty());
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(PrivateScratchTest, ItIsAnnouncedBeforeItIsThereAndCanBeRefused) {
  bool there = true;
  const auto scratch =
      PrivateScratch::make(parent(), "scratch-", [&](const AbsolutePath& path) -> Result<void> {
        there = std::filesystem::exists(path.str());
        return fail(ErrorCode::kSystem, "nobody will remove it");
      });

  EXPECT_FALSE(there);
  ASSERT_FALSE(scratch);
  EXPECT_EQ(scratch.error().message, "nobody will remove it");
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(PrivateScratchTest, AParentInWhichOthersCanExchangeItIsRefused) {
  ASSERT_EQ(::chmod(place_.str().c_str(), 0777), 0);
  const auto open = PrivateScratch::make(parent(), "scratch-");
  ASSERT_EQ(::chmod(place_.str().c_str(), 01777), 0);
  const auto sticky = PrivateScratch::make(parent(), "scratch-");

  ASSERT_FALSE(open);
  EXPECT_EQ(open.error().code, ErrorCode::kDenied);
  EXPECT_TRUE(sticky) << sticky.error().message;
}

TEST_F(PrivateScratchTest, AParentThatIsALinkOrNoDirectoryIsRefused) {
  std::filesystem::create_directory(place_ / "real");
  std::filesystem::create_directory_symlink(place_ / "real", place_ / "link");
  std::ofstream(place_ / "file") << "x";
  for (const char* name : {"link", "file", "missing"}) {
    EXPECT_FALSE(PrivateScratch::make(*AbsolutePath::parse(place_ / name), "scratch-")) << name;
  }
  EXPECT_TRUE(PrivateScratch::make(*AbsolutePath::parse(place_ / "real"), "scratch-"));
}

TEST_F(PrivateScratchTest, APrefixThatLeadsElsewhereIsRefused) {
  std::filesystem::create_directory(place_ / "sub");
  for (const char* prefix : {"sub/", "../", "/"}) {
    EXPECT_FALSE(PrivateScratch::make(parent(), prefix)) << prefix;
  }
}

TEST_F(PrivateScratchTest, WhatACommandLeftIsRemovedAndNoLinkIsFollowed) {
  std::filesystem::create_directory(place_ / "outside");
  std::ofstream(place_ / "outside/kept") << "kept";
  {
    const PrivateScratch scratch = made();
    const std::string root = scratch.path().str();
    std::filesystem::create_directory_symlink(place_ / "outside", root + "/link");
    std::filesystem::create_symlink(place_ / "outside/kept", root + "/file-link");
    std::filesystem::create_symlink("/nowhere", root + "/dangling");
    std::filesystem::create_directories(root + "/a/b/c");
    std::ofstream(root + "/a/b/c/file") << "x";
    std::ofstream(root + "/a/.loom-exec-removal-1") << "x";
    std::ofstream(root + "/.loom-exec-removal-1") << "x";
    std::filesystem::create_directories(root + "/.loom-exec-removal-2/full");
    ASSERT_EQ(::mkfifo((root + "/a/fifo").c_str(), 0600), 0);
  }

  std::vector<std::string> left;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(place_.str())) {
    left.push_back(entry.path().filename());
  }
  EXPECT_THAT(left, ::testing::UnorderedElementsAre("outside", "kept"));
}

TEST_F(PrivateScratchTest, ModesThatKeepTheOwnerOutKeepNothing) {
  {
    const PrivateScratch scratch = made();
    const std::string root = scratch.path().str();
    std::filesystem::create_directories(root + "/a/b/c");
    std::ofstream(root + "/a/b/c/file") << "x";
    for (const char* name : {"/a/b/c/file", "/a/b/c", "/a/b", "/a", ""}) {
      ASSERT_EQ(::chmod((root + name).c_str(), 0), 0);
    }
  }
  EXPECT_TRUE(nothing_is_left());
}

// As deep as no path is long, and wide besides.
TEST_F(PrivateScratchTest, NeitherDepthNorNumberStopsIt) {
  {
    const PrivateScratch scratch = made();
    UniqueFd at(::open(scratch.path().str().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const std::string name(20, 'd');
    for (int depth = 0; depth < 300; ++depth) {
      ASSERT_EQ(::mkdirat(at.get(), name.c_str(), 0700), 0);
      at.reset(::openat(at.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
      ASSERT_TRUE(at);
    }
    for (int i = 0; i < 3'000; ++i) {
      const std::string path = scratch.path().str() + "/" + std::to_string(i);
      const UniqueFd file(::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
      ASSERT_TRUE(file);
    }
    at.reset();
    const std::size_t before = open_descriptors();
    EXPECT_THAT(remove_private_scratch(scratch.path()), IsEmpty());
    EXPECT_EQ(open_descriptors(), before);
  }
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(PrivateScratchTest, OnlyADirectoryOfOursIsRemoved) {
  std::filesystem::create_directory(place_ / "real");
  std::ofstream(place_ / "real/kept") << "kept";
  std::filesystem::create_directory_symlink(place_ / "real", place_ / "link");

  EXPECT_THAT(remove_private_scratch(*AbsolutePath::parse(place_ / "link")),
              ElementsAre(HasSubstr("is not a directory")));
  EXPECT_THAT(remove_private_scratch(*AbsolutePath::parse(place_ / "missing")), IsEmpty());
  EXPECT_THAT(remove_private_scratch(*AbsolutePath::parse(place_ / "missing/below")), IsEmpty());
  EXPECT_TRUE(std::filesystem::exists(place_ / "real/kept"));
  if (::geteuid() != 0) return;
  ASSERT_EQ(::chown((place_ / "real").c_str(), 65'534, 65'534), 0);
  EXPECT_THAT(remove_private_scratch(*AbsolutePath::parse(place_ / "real")),
              ElementsAre(HasSubstr("belongs to somebody else")));
  EXPECT_TRUE(std::filesystem::exists(place_ / "real/kept"));
}

// A removal in pieces of the least size.
std::size_t pieces_of(ScratchRemoval& removal) {
  std::size_t pieces = 1;
  while (!removal.go_on(ScratchRemoval::Clock::now())) ++pieces;
  return pieces;
}

void fill(const AbsolutePath& scratch, int files) {
  std::filesystem::create_directories(scratch.str() + "/a/b/c");
  for (int i = 0; i < files; ++i) {
    std::ofstream(scratch.str() + "/" + std::to_string(i)) << "x";
    std::ofstream(scratch.str() + "/a/b/c/" + std::to_string(i)) << "x";
  }
}

TEST_F(PrivateScratchTest, APieceOfARemovalEndsAndTheLastOneLeavesNothing) {
  PrivateScratch scratch = made();
  fill(scratch.path(), 40);
  ScratchRemoval removal = scratch.hand_over();

  EXPECT_FALSE(removal.go_on(ScratchRemoval::Clock::now()));
  EXPECT_FALSE(nothing_is_left());
  EXPECT_THAT(removal.problems(),
              ElementsAre(AllOf(HasSubstr(scratch.path().str()), HasSubstr("takes too long"))));
  EXPECT_GT(pieces_of(removal), 20U);
  EXPECT_THAT(removal.problems(), IsEmpty());
  EXPECT_TRUE(nothing_is_left());
}

// The caretaker of a helper that was killed meanwhile goes on with it.
TEST_F(PrivateScratchTest, WhatIsLeftAfterAMomentIsRememberedUntilTheEnd) {
  PrivateScratch scratch = made();
  fill(scratch.path(), 40);
  ScratchRemnants remnants(std::chrono::milliseconds(0));

  remnants.begin(scratch.path());
  EXPECT_FALSE(nothing_is_left());
  remnants.remove();
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(PrivateScratchTest, AMomentIsEnoughForMost) {
  PrivateScratch scratch = made();
  fill(scratch.path(), 40);

  ScratchRemnants().begin(scratch.path());

  EXPECT_TRUE(nothing_is_left());
}

// The reason also where each piece is over before it could tell, and once the mount is gone the
// caretaker removes the rest.
int remove_around_a_mount(const AbsolutePath& scratch, const std::string& mount_point) {
  ::alarm(30);  // should a removal never end
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return 77;
  if (::mount("none", mount_point.c_str(), "tmpfs", 0, nullptr) != 0) return 77;
  const auto is_told = [](const std::vector<std::string>& problems) {
    return problems.size() == 1 &&
           problems.front().find(": a file system is mounted in it") != std::string::npos;
  };
  if (!is_told(remove_private_scratch(scratch))) return 1;
  ScratchRemoval removal(scratch);
  if (pieces_of(removal) > 100) return 2;
  if (!is_told(removal.problems())) return 3;
  ScratchRemnants remnants;
  remnants.begin(scratch);
  if (::umount(mount_point.c_str()) != 0) return 4;
  if (!std::filesystem::exists(mount_point)) return 5;
  remnants.remove();
  return std::filesystem::exists(scratch.str()) ? 6 : 0;
}

// What is told is why the rest cannot be removed, not what was in the way before.
TEST_F(PrivateScratchTest, AMountInItStaysAndIsNamedAsTheReason) {
  PrivateScratch scratch = made();
  fill(scratch.path(), 3);
  const std::string mount_point = scratch.path().str() + "/a/mounted";
  std::filesystem::create_directory(mount_point);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(remove_around_a_mount(scratch.path(), mount_point));
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
    LOOM_SKIP_UNLESS_PROMISED("no user namespace with mounts of its own can be made");
  }
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0) << "at that step";
}

// Leaves no descriptor to open anything with.
class NoDescriptors {
 public:
  NoDescriptors() {
    if (::getrlimit(RLIMIT_NOFILE, &before_) != 0) std::abort();
    const UniqueFd next(::dup(0));
    rlimit none = before_;
    none.rlim_cur = static_cast<rlim_t>(next.get());
    if (::setrlimit(RLIMIT_NOFILE, &none) != 0) std::abort();
  }
  ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;
  NoDescriptors(NoDescriptors&&) = delete;
  NoDescriptors& operator=(NoDescriptors&&) = delete;

 private:
  rlimit before_{};
};

TEST_F(PrivateScratchTest, WithoutDescriptorsItGoesOnLater) {
  for (const bool begun : {false, true}) {
    SCOPED_TRACE(begun);
    PrivateScratch scratch = made();
    fill(scratch.path(), 3);
    ScratchRemoval removal = scratch.hand_over();
    if (begun) {
      EXPECT_FALSE(removal.go_on(ScratchRemoval::Clock::now()));
    }
    {
      const NoDescriptors none;
      EXPECT_FALSE(removal.go_on(ScratchRemoval::Clock::now() + std::chrono::seconds(10)));
    }
    EXPECT_THAT(removal.problems("it goes on"),
                ElementsAre(AllOf(HasSubstr("it goes on"), HasSubstr("Too many open files"))));
    EXPECT_FALSE(nothing_is_left());

    EXPECT_TRUE(removal.go_on(ScratchRemoval::Clock::now() + std::chrono::seconds(10)));
    EXPECT_THAT(removal.problems(), IsEmpty());
    EXPECT_TRUE(nothing_is_left());
  }
}

TEST_F(PrivateScratchTest, WhoeverGoesOnFillingItOnlyDelaysItsEnd) {
  PrivateScratch scratch = made();
  fill(scratch.path(), 3);
  late_files = 3;

  EXPECT_THAT(scratch.remove(), IsEmpty());

  EXPECT_EQ(late_files, 0);
  EXPECT_TRUE(nothing_is_left());
}

}  // namespace
}  // namespace loom::host
