#include "guard/walk.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <string>
#include <vector>

#include "guard_support.h"
#include "tests/support/promised.h"

namespace loom::guard {
namespace {

class WalkTest : public ::testing::Test {
 protected:
  [[nodiscard]] WalkResult<Landing> walk_to(std::string_view name,
                                            LeafMode leaf = LeafMode::kResolve) const {
    return walk(tree_.at(name), {.leaf = leaf});
  }
  [[nodiscard]] std::string read_at(std::string_view name) const {
    auto landing = walk_to(name);
    if (!landing) return reason(landing);
    const auto file = landing->read();
    return file ? content_of(*file) : reason(file);
  }
  [[nodiscard]] std::string real_of(std::string_view name) const {
    const auto landing = walk_to(name);
    if (!landing) return reason(landing);
    return landing->real().str().substr(tree_.at("").size());
  }

  Tree tree_;
};

// guard 9.3: 41
TEST_F(WalkTest, ADanglingLinkLandsAbsentAtItsTargetAndMakesNothing) {
  tree_.directory("/w/work");
  tree_.link("../../o/m", "/w/work/d");

  auto landing = walk_to("/w/work/d");

  ASSERT_TRUE(landing) << reason(landing);
  EXPECT_EQ(landing->kind(), ObjectKind::kAbsent);
  EXPECT_EQ(landing->real().str(), tree_.at("/o/m"));
  EXPECT_EQ(reason(landing->write(WriteMode::kAppend)), "missing");
  EXPECT_FALSE(tree_.has("/o/m"));
}

// guard 9.3: 42
TEST_F(WalkTest, CreatingThroughADanglingLinkMakesTheTargetAndLeavesTheLink) {
  tree_.directory("/w/in");
  tree_.link("in/x", "/w/l");

  auto landing = walk_to("/w/l");
  ASSERT_TRUE(landing) << reason(landing);
  EXPECT_EQ(landing->real().str(), tree_.at("/w/in/x"));
  const auto made = landing->create(0644);

  ASSERT_TRUE(made) << reason(made);
  EXPECT_TRUE(std::filesystem::is_regular_file(tree_.at("/w/in/x")));
  EXPECT_EQ(std::filesystem::read_symlink(tree_.at("/w/l")), "in/x");
}

// guard 9.3: 43
TEST_F(WalkTest, ALoopOfLinksEnds) {
  tree_.link("b", "/w/a");
  tree_.link("a", "/w/b");

  EXPECT_EQ(read_at("/w/a"), "too_many_links");
}

// guard 9.3: 44
TEST_F(WalkTest, FortyLinksAreFollowedAndFortyOneAreNot) {
  tree_.file("/w/l0");
  for (int i = 1; i <= 41; ++i) {
    tree_.link("l" + std::to_string(i - 1), "/w/l" + std::to_string(i));
  }

  EXPECT_EQ(read_at("/w/l40"), "content");
  EXPECT_EQ(read_at("/w/l41"), "too_many_links");
  EXPECT_EQ(walk_to("/w/l40")->links().size(), 40u);
}

TEST_F(WalkTest, LinksThatMultiplyTheirTextEndBeforeMemoryDoes) {
  // Each of them holds the next one 400 times: 400 to the power of 10 components.
  for (int i = 0; i < 10; ++i) {
    std::string target;
    for (int n = 0; n < 400; ++n) target += "m" + std::to_string(i + 1) + "/../";
    tree_.link(target + "m" + std::to_string(i + 1), "/w/m" + std::to_string(i));
  }
  tree_.directory("/w/m10");

  EXPECT_EQ(reason(walk_to("/w/m0")), "too_many_links");
  EXPECT_EQ(real_of("/w/m10"), "/w/m10");
}

TEST_F(WalkTest, WhatWaitsToBeWalkedHasACeiling) {
  // 20 links of 4,000 bytes, each spliced in front of what the last one left.
  for (int i = 0; i < 20; ++i) {
    const std::string next = "n" + std::to_string(i + 1);
    std::string target = next;
    while (target.size() < 3'990) target += "/abcdefg";
    tree_.link(target, "/w/n" + std::to_string(i));
  }

  const auto landing = walk_to("/w/n0");

  EXPECT_EQ(reason(landing), "too_many_links");
  EXPECT_EQ(reason(walk_to("/w/n10")), "missing") << "half of it is below the ceiling";
}

// guard 9.3: 45
TEST_F(WalkTest, ALinkOnTheWayIsReplacedByWhereItLeads) {
  tree_.directory("/w/t/deep");
  tree_.file("/w/t/deep/f");
  tree_.link("t/deep", "/w/al");

  EXPECT_EQ(real_of("/w/al/f"), "/w/t/deep/f");
  EXPECT_EQ(read_at("/w/al/f"), "content");
}

// guard 9.3: 46
TEST_F(WalkTest, DotDotLeavesTheTargetOfALinkAndNotItsPlace) {
  tree_.directory("/w/real/sub");
  tree_.file("/w/real/f", "of the target");
  tree_.file("/w/f", "of the place");
  tree_.link("real/sub", "/w/l");

  EXPECT_EQ(real_of("/w/l/../f"), "/w/real/f");
  EXPECT_EQ(read_at("/w/l/../f"), "of the target");
}

// guard 9.3: 47
TEST_F(WalkTest, DotDotBehindALinkThatLeadsOutIsOutside) {
  tree_.directory("/o/sub");
  tree_.file("/o/f");
  tree_.link(tree_.at("/o/sub"), "/w/l");

  EXPECT_EQ(real_of("/w/l/../f"), "/o/f");
}

// guard 9.3: 48
TEST_F(WalkTest, AFileWithATrailingSlashIsNoDirectory) {
  tree_.file("/w/f");
  tree_.link("f/", "/w/slashed");
  tree_.link("f", "/w/plain");

  for (const char* name : {"/w/f/", "/w/f/.", "/w/slashed", "/w/plain/", "/w/f/x", "/w/f/.."}) {
    EXPECT_EQ(read_at(name), "not_a_directory") << name;
  }
  EXPECT_EQ(read_at("/w/f"), "content");
  EXPECT_EQ(read_at("/w/plain"), "content");
}

// guard 9.3: 49
TEST_F(WalkTest, ATrailingSlashFollowsALinkToADirectoryInEveryLeafMode) {
  tree_.directory("/w/d");
  tree_.file("/w/d/inside");
  tree_.link("d", "/w/l");

  for (const LeafMode leaf : {LeafMode::kResolve, LeafMode::kAsNamed, LeafMode::kRefuseLink}) {
    for (const char* name : {"/w/l/", "/w/l/.", "/w/d/", "/w/l//"}) {
      const auto landing = walk_to(name, leaf);
      ASSERT_TRUE(landing) << name << ": " << reason(landing);
      EXPECT_EQ(landing->real().str(), tree_.at("/w/d")) << name;
      EXPECT_TRUE(landing->list()) << name;
    }
  }
  EXPECT_EQ(walk_to("/w/l", LeafMode::kAsNamed)->kind(), ObjectKind::kLink);
  EXPECT_EQ(reason(walk_to("/w/l", LeafMode::kRefuseLink)), "link_refused");
}

// guard 9.3: 50
TEST_F(WalkTest, AFileIsNotCreatedUnderANameWithATrailingSlash) {
  for (const char* name : {"/w/n/", "/w/n/."}) {
    EXPECT_EQ(reason(walk_to(name)->create(0644)), "is_a_directory") << name;
  }
  EXPECT_FALSE(tree_.has("/w/n"));
  EXPECT_TRUE(walk_to("/w/n")->create(0644));
  EXPECT_TRUE(tree_.has("/w/n"));
}

// guard 9.3: 51
TEST_F(WalkTest, ADirectoryIsMadeUnderANameWithATrailingSlash) {
  const auto made = walk_to("/w/n/")->mkdir(0700);

  ASSERT_TRUE(made) << reason(made);
  struct stat about {};
  ASSERT_EQ(::fstat(made->get(), &about), 0);
  EXPECT_EQ(tree_.identity("/w/n").inode, about.st_ino);
  EXPECT_EQ(about.st_mode & 07777u, 0700u);
}

// guard 9.3: 52
TEST_F(WalkTest, ADirectoryThatMayOnlyBeSearchedIsWalkedThrough) {
  tree_.directory("/w/d");
  tree_.file("/w/d/f");
  tree_.directory("/w/d", 0111);
  const OrdinaryUser ordinary;

  EXPECT_EQ(read_at("/w/d/f"), "content");
  EXPECT_EQ(reason(walk_to("/w/d")->list()), "system") << "the right is that to search only";
}

// guard 9.3: 53
TEST_F(WalkTest, ADirectoryThatMayNotBeSearchedEndsTheWalk) {
  tree_.directory("/w/d");
  tree_.file("/w/d/f");
  tree_.directory("/w/d", 0000);
  {
    const OrdinaryUser ordinary;
    const auto landing = walk_to("/w/d/f");

    EXPECT_EQ(reason(landing), "search_denied");
    EXPECT_EQ(landing.error().sys_errno, EACCES);
    EXPECT_TRUE(walk_to("/w/d")) << "its own name is in a directory that may be searched";
  }
  tree_.directory("/w/d", 0755);
  const OrdinaryUser ordinary;
  EXPECT_EQ(read_at("/w/d/f"), "content");
}

// guard 9.3: 54
TEST_F(WalkTest, NoLinkOfProcfsIsFollowed) {
  tree_.file("/w/f");
  for (const std::string& link : {std::string("/proc/self/root"), std::string("/proc/self/cwd"),
                                  "/proc/" + std::to_string(::getpid()) + "/root",
                                  "/proc/" + std::to_string(::getpid()) + "/fd/0"}) {
    EXPECT_EQ(reason(walk(link + tree_.at("/w/f"))), "magic_link") << link;
    EXPECT_EQ(reason(walk(link)), "magic_link") << link;
  }
  EXPECT_EQ(::access(("/proc/self/root" + tree_.at("/w/f")).c_str(), R_OK), 0)
      << "the kernel follows it";
}

// guard 9.3: 55
TEST_F(WalkTest, ALinkThatLeadsToOneOfProcfsIsAsBad) {
  tree_.file("/w/f");
  tree_.link("/proc/self/cwd", "/w/l");
  tree_.link("/proc/self", "/w/self");

  EXPECT_EQ(read_at("/w/l/f"), "magic_link");
  EXPECT_EQ(read_at("/w/l"), "magic_link");
  EXPECT_EQ(read_at("/w/self/status"), "magic_link");
  EXPECT_EQ(walk_to("/w/l", LeafMode::kAsNamed)->kind(), ObjectKind::kLink);
}

TEST_F(WalkTest, ALandingOnProcfsIsRefused) {
  const std::string own = "/proc/" + std::to_string(::getpid());

  EXPECT_EQ(reason(walk("/proc")), "pseudo_fs");
  EXPECT_EQ(reason(walk(own + "/status")), "pseudo_fs");
  EXPECT_EQ(reason(walk(own + "/no-such-name")), "pseudo_fs");
  EXPECT_EQ(reason(walk("/proc/self", {.leaf = LeafMode::kAsNamed})), "pseudo_fs");
  EXPECT_EQ(reason(walk("/proc/..")), "landed") << "through it, but not on it";
}

// guard 9.3: 56
TEST_F(WalkTest, DotsAndDoubledSlashesAreNotNames) {
  tree_.file("/w/f");

  EXPECT_EQ(real_of("/w/../w/./f"), "/w/f");
  EXPECT_EQ(real_of("//w//.//f"), "/w/f");
  EXPECT_EQ(real_of("/w/absent/../f"), "missing") << "nothing is cleaned before it is walked";
}

// guard 9.3: 57
TEST_F(WalkTest, DotDotAtTheRootStays) {
  tree_.file("/w/f");

  EXPECT_EQ(walk("/../.." + tree_.at("/w/f"))->real().str(), tree_.at("/w/f"));
  EXPECT_EQ(walk("/..")->real().str(), "/");
}

// guard 9.3: 58
TEST_F(WalkTest, PathsAndComponentsHaveALength) {
  std::string longest = tree_.at("/w");
  while (longest.size() < 4'095) longest += '/';

  EXPECT_EQ(reason(walk(longest)), "landed");
  EXPECT_EQ(reason(walk(longest + '/')), "bad_path");
  EXPECT_EQ(walk_to("/w/" + std::string(255, 'n'))->kind(), ObjectKind::kAbsent);
  EXPECT_EQ(reason(walk_to("/w/" + std::string(256, 'n'))), "too_long");
}

// guard 9.3: 59
TEST_F(WalkTest, APathIsAbsoluteAndHoldsNoNul) {
  using namespace std::string_view_literals;
  for (const std::string_view text : {""sv, "w/f"sv, "./f"sv, "\0"sv, "/w\0/f"sv, "/w/f\0"sv}) {
    EXPECT_EQ(reason(walk(text)), "bad_path") << std::string(text);
  }
  EXPECT_EQ(reason(walk("/")), "landed");
}

// guard 9.3: 60
TEST_F(WalkTest, SomebodyElsesLinkInASharedDirectoryIsNotFollowed) {
  if (::geteuid() != 0) GTEST_SKIP() << "it takes the superuser to make somebody else's link";
  tree_.directory("/w/st", 01777);
  tree_.file("/w/f");
  for (const char* name : {"/w/st/theirs", "/w/st/owners", "/w/st/ours"}) tree_.link("../f", name);
  tree_.link(".", "/w/st/theirs-on-the-way");
  constexpr uid_t kThem = 12'345;
  constexpr uid_t kOwner = 12'346;
  ASSERT_EQ(::chown(tree_.at("/w/st").c_str(), kOwner, 0), 0);
  ASSERT_EQ(::lchown(tree_.at("/w/st/theirs").c_str(), kThem, 0), 0);
  ASSERT_EQ(::lchown(tree_.at("/w/st/theirs-on-the-way").c_str(), kThem, 0), 0);
  ASSERT_EQ(::lchown(tree_.at("/w/st/owners").c_str(), kOwner, 0), 0);

  EXPECT_EQ(read_at("/w/st/theirs"), "link_untrusted");
  EXPECT_EQ(read_at("/w/st/theirs-on-the-way/ours"), "link_untrusted");
  EXPECT_EQ(walk_to("/w/st/theirs", LeafMode::kAsNamed)->kind(), ObjectKind::kLink);
  EXPECT_EQ(read_at("/w/st/owners"), "content");
  EXPECT_EQ(read_at("/w/st/ours"), "content");
  // Neither bit alone makes a directory shared.
  for (const mode_t mode : {mode_t{0777}, mode_t{01775}}) {
    tree_.directory("/w/st", mode);
    EXPECT_EQ(read_at("/w/st/theirs"), "content") << std::oct << mode;
  }
}

// guard 9.3: 61
TEST_F(WalkTest, WhatIsNoFileIsNeitherReadNorWrittenAndNothingWaits) {
  tree_.fifo("/w/fifo");
  tree_.socket("/w/socket");
  tree_.link("fifo", "/w/l");
  const Deadline deadline(10);

  for (const char* name : {"/w/fifo", "/w/socket", "/w/l"}) {
    auto landing = walk_to(name);
    ASSERT_TRUE(landing) << name << ": " << reason(landing);
    EXPECT_EQ(reason(landing->read()), "not_regular") << name;
    EXPECT_EQ(reason(landing->write(WriteMode::kTruncate)), "not_regular") << name;
  }
  for (const char* device : {"/dev/zero", "/dev/tty", "/dev/null/", "//dev/null"}) {
    auto landing = walk(device);
    const std::string why = landing ? reason(landing->read()) : reason(landing);
    EXPECT_TRUE(why == "not_regular" || why == "not_a_directory" || why == "missing")
        << device << ": " << why;
  }
}

TEST_F(WalkTest, TheNullDeviceIsReadAndWrittenWhereJustThatIsAskedFor) {
  auto null = walk("/dev/null");
  ASSERT_TRUE(null) << reason(null);
  tree_.link("/dev/null", "/w/l");

  EXPECT_EQ(content_of(*null->read()), "");
  EXPECT_TRUE(null->write(WriteMode::kTruncate));
  EXPECT_EQ(read_at("/w/l"), "not_regular") << "by another name it is a device like any other";
}

// guard 9.3: 62
TEST_F(WalkTest, AsNamedALinkIsTheObjectAndItsTargetRemains) {
  tree_.file("/w/f");
  tree_.link("f", "/w/l");

  auto landing = walk_to("/w/l", LeafMode::kAsNamed);
  ASSERT_TRUE(landing) << reason(landing);
  EXPECT_EQ(landing->kind(), ObjectKind::kLink);
  EXPECT_EQ(landing->identity(), tree_.identity("/w/l"));
  EXPECT_TRUE(S_ISLNK(landing->status()->st_mode));
  EXPECT_EQ(reason(landing->read()), "not_regular");
  EXPECT_EQ(reason(landing->remove()), "landed");

  EXPECT_FALSE(tree_.has("/w/l"));
  EXPECT_EQ(tree_.text("/w/f"), "content");
}

// guard 9.3: 63
TEST_F(WalkTest, AsNamedADanglingLinkExists) {
  tree_.link("nope", "/w/dang");

  EXPECT_TRUE(walk_to("/w/dang", LeafMode::kAsNamed)->exists());
  EXPECT_FALSE(walk_to("/w/dang")->exists());
  EXPECT_FALSE(walk_to("/w/nope", LeafMode::kAsNamed)->exists());
}

// guard 9.3: 64
TEST_F(WalkTest, TheRootCanBeListedAndMountedAndHasNoName) {
  auto root = walk("/");
  ASSERT_TRUE(root) << reason(root);

  EXPECT_TRUE(root->list());
  EXPECT_TRUE(root->mount_source());
  EXPECT_EQ(root->leaf(), "");
  EXPECT_EQ(root->parent(), -1);
  EXPECT_EQ(reason(root->remove()), "bad_path");
  EXPECT_EQ(reason(root->create(0644)), "bad_path");
  EXPECT_EQ(reason(root->mkdir(0755)), "bad_path");
  auto target = walk_to("/w/n", LeafMode::kAsNamed);
  EXPECT_EQ(reason(Landing::rename(*root, *target, RenameMode::kKeepTarget)), "bad_path");
  EXPECT_EQ(reason(Landing::rename(*target, *root, RenameMode::kReplaceTarget)), "bad_path");
}

// guard 9.3: 65
TEST_F(WalkTest, ThreeHundredDirectoriesAreTooDeepAndTwoHundredFiftySixAreNot) {
  const std::string base = tree_.at("/w");
  const auto above = static_cast<std::size_t>(std::count(base.begin(), base.end(), '/')) + 1;
  std::string name = "/w";
  for (std::size_t depth = above; depth < 300; ++depth) {
    name += "/d";
    tree_.directory(name);
  }
  const std::string just_right = name.substr(0, name.size() - 2 * (300 - 256));
  tree_.file(just_right + "/f");
  tree_.file(name + "/f");

  EXPECT_EQ(read_at(name + "/f"), "too_deep");
  EXPECT_EQ(read_at(just_right + "/f"), "content");
  EXPECT_EQ(reason(walk_to(just_right + "/d")), "too_deep");
}

// guard 2.5, 2.7
TEST_F(WalkTest, ALinkOnTheWayIsFollowedInEveryLeafModeUnlessNoneMayBe) {
  tree_.directory("/w/d");
  tree_.file("/w/d/f");
  tree_.link("d", "/w/l");
  for (const LeafMode leaf : {LeafMode::kResolve, LeafMode::kAsNamed, LeafMode::kRefuseLink}) {
    EXPECT_EQ(walk_to("/w/l/f", leaf)->real().str(), tree_.at("/w/d/f"));
    const WalkOptions none{.leaf = leaf, .refuse_links = true};
    EXPECT_EQ(reason(walk(tree_.at("/w/l/f"), none)), "link_refused");
    EXPECT_EQ(reason(walk(tree_.at("/w/d/f"), none)), "landed");
  }
}

TEST_F(WalkTest, ALandingSaysWhatItPassedAndWhichLinksItFollowed) {
  tree_.directory("/w/d");
  tree_.file("/w/d/f");
  ASSERT_EQ(::link(tree_.at("/w/d/f").c_str(), tree_.at("/w/second").c_str()), 0);
  tree_.link("d", "/w/l");

  const auto landing = walk_to("/o/../w/l/f");
  ASSERT_TRUE(landing) << reason(landing);

  const std::vector<FileIdentity>& passed = landing->passed();
  for (const char* name : {"/w", "/o", "/w/d", ""}) {
    EXPECT_EQ(std::count(passed.begin(), passed.end(), tree_.identity(name)), 1) << name;
  }
  EXPECT_EQ(std::count(passed.begin(), passed.end(), tree_.identity("/w/d/f")), 0);
  ASSERT_EQ(landing->links().size(), 1u);
  EXPECT_EQ(landing->links()[0], (LinkFact{.place = path(tree_.at("/w/l")), .target = "d"}));
  EXPECT_EQ(landing->link_count(), 2u);
  EXPECT_EQ(landing->identity(), tree_.identity("/w/d/f"));
  EXPECT_EQ(landing->leaf(), "f");
}

TEST_F(WalkTest, AWalkLeavesNoDescriptorOpenAndALandingHoldsTwo) {
  const auto open_now = [] {
    const std::filesystem::directory_iterator listing("/proc/self/fd");
    return std::distance(begin(listing), end(listing));
  };
  tree_.file("/w/f");
  tree_.link("f", "/w/l");
  const auto before = open_now();
  {
    const auto landing = walk_to("/w/l");
    ASSERT_TRUE(landing);
    EXPECT_EQ(open_now(), before + 2);
  }
  EXPECT_EQ(reason(walk_to("/w/f/x")), "not_a_directory");
  EXPECT_EQ(open_now(), before);
}

TEST_F(WalkTest, RunningOutOfDescriptorsIsNoAnswerAboutThePath) {
  tree_.directory("/w/1/2/3/4/5/6/7/8/9/10");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit few = before;
  few.rlim_cur = static_cast<rlim_t>(::dup(0)) + 6;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  const auto landing = walk_to("/w/1/2/3/4/5/6/7/8/9/10");
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);

  EXPECT_EQ(reason(landing), "resource");
  EXPECT_EQ(landing.error().sys_errno, EMFILE);
  EXPECT_EQ(reason(walk_to("/w/1/2/3/4/5/6/7/8/9/10")), "landed");
}

// guard 9.7: 153
TEST_F(WalkTest, ALoopOfBindMountsEnds) {
  if (::geteuid() != 0) GTEST_SKIP() << "it takes the superuser to mount";
  tree_.directory("/w/d/loop");
  const pid_t child = ::fork();
  if (child == 0) {
    const bool mounted = ::unshare(CLONE_NEWNS) == 0 &&
                         ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                         ::mount(tree_.at("/w").c_str(), tree_.at("/w/d/loop").c_str(), nullptr,
                                 MS_BIND | MS_REC, nullptr) == 0 &&
                         ::mount(tree_.at("/w").c_str(), tree_.at("/w/d/loop/d/loop").c_str(),
                                 nullptr, MS_BIND | MS_REC, nullptr) == 0;
    if (!mounted) ::_exit(2);
    std::string name = "/w";
    for (int i = 0; i < 300; ++i) name += "/d/loop";
    const bool crossed = real_of("/w/d/loop/d") == "/w/d/loop/d";
    const bool ended = !walk_to(name);
    ::_exit(crossed && ended ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 2) {
    LOOM_SKIP_UNLESS_PROMISED("this machine mounts nothing");
  }
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace loom::guard
