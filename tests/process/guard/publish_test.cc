#include "guard/publish.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <set>
#include <string>
#include <vector>

#include "guard/walk.h"
#include "guard_support.h"

namespace loom::guard {
namespace {

using ::testing::ElementsAre;
using ::testing::MatchesRegex;

class PublishTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string publish_at(std::string_view name, const Publication& publication,
                                       LeafMode leaf = LeafMode::kRefuseLink) const {
    auto target = walk(tree_.at(name), {.leaf = leaf});
    if (!target) return reason(target);
    return outcome(publish(*target, publication));
  }
  [[nodiscard]] static std::string outcome(const PublishResult& done) {
    return done ? "published" : std::string(walk_failure_name(done.error().error.reason));
  }
  [[nodiscard]] mode_t mode_of(std::string_view name) const {
    struct stat about {};
    EXPECT_EQ(::lstat(tree_.at(name).c_str(), &about), 0);
    return about.st_mode & 07777;
  }

  Tree tree_;
};

// guard 9.4: 66
TEST_F(PublishTest, AFileIsReplacedByAnotherWithItsModeAndNothingIsLeftBeside) {
  tree_.file("/w/c", "old", 0640);
  const FileIdentity old = tree_.identity("/w/c");
  ASSERT_EQ(::link(tree_.at("/w/c").c_str(), tree_.at("/w/other").c_str()), 0);

  EXPECT_EQ(publish_at("/w/c", {.content = "new"}), "published");

  EXPECT_EQ(tree_.text("/w/c"), "new");
  EXPECT_NE(tree_.identity("/w/c"), old);
  EXPECT_EQ(mode_of("/w/c"), 0640u);
  EXPECT_EQ(tree_.text("/w/other"), "old") << "the old object is never written";
  EXPECT_THAT(tree_.names("/w"), ElementsAre("c", "other"));
}

TEST_F(PublishTest, TheModeIsTheRequestedOneWhateverTheUmaskAndNeverSetId) {
  tree_.file("/w/old", "old", 04755);
  const mode_t umask = ::umask(0777);
  const auto as_asked = publish_at("/w/asked", {.content = "x", .mode = 06751});
  const auto as_old = publish_at("/w/old", {.content = "x", .durable = true});
  const auto as_new = publish_at("/w/new", {.content = "x"});
  ::umask(umask);

  EXPECT_EQ(as_asked, "published");
  EXPECT_EQ(as_old, "published");
  EXPECT_EQ(as_new, "published");
  EXPECT_EQ(mode_of("/w/asked"), 0751u);
  EXPECT_EQ(mode_of("/w/old"), 0755u);
  EXPECT_EQ(mode_of("/w/new"), 0600u);
}

// guard 9.4: 67
TEST_F(PublishTest, ALinkAtTheTargetIsRefusedAndNothingIsWritten) {
  tree_.file("/o/c", "theirs");
  tree_.link(tree_.at("/o/c"), "/w/c");

  EXPECT_EQ(publish_at("/w/c", {.content = "new"}), "link_refused");
  EXPECT_EQ(tree_.text("/o/c"), "theirs");
  EXPECT_THAT(tree_.names("/w"), ElementsAre("c"));
  EXPECT_THAT(tree_.names("/o"), ElementsAre("c"));
  EXPECT_EQ(publish_at("/w/d", {.content = "new"}), "published");
}

// guard 9.4: 68
TEST_F(PublishTest, AFollowedLinkStaysAndItsTargetIsReplaced) {
  tree_.file("/w/a", "old");
  tree_.link("a", "/w/c");

  EXPECT_EQ(publish_at("/w/c", {.content = "new"}, LeafMode::kResolve), "published");

  EXPECT_EQ(std::filesystem::read_symlink(tree_.at("/w/c")), "a");
  EXPECT_EQ(tree_.text("/w/a"), "new");
}

// guard 9.4: 69
TEST_F(PublishTest, NoDirectoryIsMade) {
  EXPECT_EQ(publish_at("/w/d/c", {.content = "new"}), "missing");
  EXPECT_FALSE(tree_.has("/w/d"));
  EXPECT_EQ(publish_at("/w/c/", {.content = "new"}), "is_a_directory");
  EXPECT_TRUE(tree_.names("/w").empty());
}

// guard 9.4: 70
TEST_F(PublishTest, WhatIsNoFileIsNotReplaced) {
  tree_.directory("/w/c");
  tree_.fifo("/w/fifo");
  tree_.socket("/w/socket");
  const Deadline deadline(10);

  for (const char* name : {"/w/c", "/w/fifo", "/w/socket"}) {
    EXPECT_EQ(publish_at(name, {.content = "new"}), "not_regular") << name;
  }
  EXPECT_THAT(tree_.names("/w"), ElementsAre("c", "fifo", "socket"));
  EXPECT_TRUE(std::filesystem::is_fifo(tree_.at("/w/fifo")));
}

TEST_F(PublishTest, EveryNameButADirectorysIsReplacedWhereThatWasAskedFor) {
  tree_.directory("/w/c");
  tree_.fifo("/w/fifo");
  tree_.file("/o/theirs", "theirs");
  tree_.link(tree_.at("/o/theirs"), "/w/l");
  const Deadline deadline(10);
  const Publication any{.content = "new", .replace_any_name = true};

  EXPECT_EQ(publish_at("/w/fifo", any, LeafMode::kAsNamed), "published");
  EXPECT_EQ(publish_at("/w/l", any, LeafMode::kAsNamed), "published");
  EXPECT_EQ(publish_at("/w/c", any, LeafMode::kAsNamed), "not_regular");

  EXPECT_EQ(tree_.text("/w/fifo"), "new");
  EXPECT_TRUE(std::filesystem::is_regular_file(tree_.at("/w/l")));
  EXPECT_EQ(tree_.text("/w/l"), "new");
  EXPECT_EQ(tree_.text("/o/theirs"), "theirs");
}

// guard 9.4: 71
TEST_F(PublishTest, AFullDiskLeavesTheOldFileWholeAndNothingBeside) {
  tree_.file("/w/c", "old");
  const std::string content(8'192, 'x');
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = 4'096;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto target = walk(tree_.at("/w/c"));
  const auto refused = publish(*target, {.content = content});
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ::signal(SIGXFSZ, handler);

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().step, PublishStep::kWrite);
  EXPECT_EQ(refused.error().error.sys_errno, EFBIG);
  EXPECT_EQ(tree_.text("/w/c"), "old");
  EXPECT_THAT(tree_.names("/w"), ElementsAre("c"));
  EXPECT_EQ(publish_at("/w/c", {.content = content}), "published");
  EXPECT_EQ(tree_.text("/w/c"), content);
}

// guard 9.4: 71
TEST_F(PublishTest, AFailedRenameLeavesNothingBeside) {
  const auto target = walk(tree_.at("/w/c"), {.leaf = LeafMode::kRefuseLink});
  ASSERT_TRUE(target);
  tree_.directory("/w/c");

  const auto refused = publish(*target, {.content = "new"});

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().step, PublishStep::kReplace);
  EXPECT_EQ(refused.error().error.sys_errno, EISDIR);
  EXPECT_THAT(tree_.names("/w"), ElementsAre("c"));
}

TEST_F(PublishTest, TheSiblingIsNamedAtRandomAndAskedAboutFirst) {
  std::set<std::string> asked;
  for (int i = 0; i < 50; ++i) {
    const Publication publication{.content = "new",
                                  .admits =
                                      [&](const AbsolutePath& sibling) {
                                        EXPECT_TRUE(tree_.names("/w").empty());
                                        EXPECT_EQ(sibling.parent().str(), tree_.at("/w"));
                                        asked.insert(std::string(sibling.name()));
                                        return false;
                                      },
                                  .suffix = ".part"};
    EXPECT_EQ(publish_at("/w/c", publication), "system");
  }
  EXPECT_EQ(asked.size(), 50u);
  for (const std::string& name : asked) {
    EXPECT_THAT(name, MatchesRegex("\\.[A-Za-z0-9]{16}\\.part"));
  }
  EXPECT_TRUE(tree_.names("/w").empty()) << "a refused sibling is not made";
}

TEST_F(PublishTest, ASiblingThatIsTakenIsNeitherOpenedNorRemoved) {
  tree_.file("/o/theirs", "theirs");
  tree_.link(tree_.at("/o/theirs"), "/w/.taken");
  const auto target = walk(tree_.at("/w/c"));

  const auto refused = publish_through(*target, ".taken", {.content = "new"});

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().step, PublishStep::kCreate);
  EXPECT_EQ(tree_.text("/o/theirs"), "theirs");
  EXPECT_THAT(tree_.names("/w"), ElementsAre(".taken"));
}

TEST_F(PublishTest, ANameIsTriedSixteenTimesAndNotForever) {
  const auto target = walk(tree_.at("/w/c"));
  int names = 0;
  // Whatever the name is, it is taken by the time it is tried.
  const Publication unlucky{.content = "new", .admits = [&](const AbsolutePath& sibling) {
                              ++names;
                              tree_.file("/w/" + std::string(sibling.name()), "theirs");
                              return true;
                            }};

  const auto refused = publish(*target, unlucky);

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().step, PublishStep::kCreate);
  EXPECT_EQ(names, 16);
  EXPECT_EQ(tree_.names("/w").size(), 16u);
}

// guard 2.13: the directory is renamed and a link takes its place
TEST_F(PublishTest, TheFileGoesToTheDirectoryThatWasWalkedTo) {
  tree_.directory("/w/d");
  const auto target = walk(tree_.at("/w/d/c"));
  std::filesystem::rename(tree_.at("/w/d"), tree_.at("/w/moved"));
  tree_.link(tree_.at("/o"), "/w/d");

  EXPECT_EQ(outcome(publish(*target, {.content = "new", .durable = true})), "published");

  EXPECT_EQ(tree_.text("/w/moved/c"), "new");
  EXPECT_TRUE(tree_.names("/o").empty());
}

}  // namespace
}  // namespace loom::guard
