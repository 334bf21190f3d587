#include "guard/landing.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "guard/walk.h"
#include "guard_support.h"

namespace loom::guard {
namespace {

class LandingTest : public ::testing::Test {
 protected:
  LandingTest() {
    tree_.file("/w/f", "judged");
    tree_.file("/o/secret", "secret");
  }
  [[nodiscard]] Landing landing(std::string_view name, LeafMode leaf = LeafMode::kResolve) const {
    auto found = walk(tree_.at(name), {.leaf = leaf});
    EXPECT_TRUE(found) << name << ": " << reason(found);
    return *std::move(found);
  }
  void replace_by_file(std::string_view name, std::string_view content) const {
    const std::string fresh = std::string(name) + ".new";
    tree_.file(fresh, content);
    std::filesystem::rename(tree_.at(fresh), tree_.at(name));
  }
  void replace_by_link(std::string_view name, std::string_view target) const {
    std::filesystem::remove(tree_.at(name));
    tree_.link(tree_.at(target), name);
  }

  Tree tree_;
};

TEST_F(LandingTest, AFileIsReadAndWrittenThroughTheLanding) {
  EXPECT_EQ(content_of(*landing("/w/f").read()), "judged");

  write_to(*landing("/w/f").write(WriteMode::kAppend), " more");
  EXPECT_EQ(tree_.text("/w/f"), "judged more");
  write_to(*landing("/w/f").write(WriteMode::kKeep), "JUD");
  EXPECT_EQ(tree_.text("/w/f"), "JUDged more");
  write_to(*landing("/w/f").write(WriteMode::kTruncate), "x");
  EXPECT_EQ(tree_.text("/w/f"), "x");
}

TEST_F(LandingTest, WhatIsOpenedWaitsLikeAnyFileAndEndsAtExec) {
  for (const auto& file : {landing("/w/f").read(), landing("/w/f").write(WriteMode::kKeep)}) {
    ASSERT_TRUE(file);
    EXPECT_EQ(::fcntl(file->get(), F_GETFL) & O_NONBLOCK, 0);
    EXPECT_EQ(::fcntl(file->get(), F_GETFD), FD_CLOEXEC);
  }
}

TEST_F(LandingTest, ADirectoryIsListedAndNeitherReadNorWritten) {
  Landing directory = landing("/w");
  const auto listed = directory.list();
  ASSERT_TRUE(listed);
  EXPECT_EQ(::faccessat(listed->get(), "f", F_OK, 0), 0);
  EXPECT_EQ(reason(directory.read()), "is_a_directory");
  EXPECT_EQ(reason(directory.write(WriteMode::kTruncate)), "is_a_directory");
  EXPECT_EQ(reason(landing("/w/f").list()), "not_a_directory");
  EXPECT_EQ(reason(landing("/w/none").list()), "missing");
}

// guard 2.13: swaps the leaf for a link
TEST_F(LandingTest, ALeafThatBecameALinkIsNotFollowed) {
  Landing reads = landing("/w/f");
  Landing writes = landing("/w/f");
  Landing removes = landing("/w/f");
  replace_by_link("/w/f", "/o/secret");

  EXPECT_EQ(reason(reads.read()), "raced");
  EXPECT_EQ(reason(writes.write(WriteMode::kTruncate)), "raced");
  EXPECT_EQ(reason(removes.remove()), "raced");
  EXPECT_EQ(tree_.text("/o/secret"), "secret");
  EXPECT_TRUE(tree_.has("/w/f"));
}

TEST_F(LandingTest, ALinkIsNotFollowedEvenWhereItLeadsToTheJudgedFile) {
  Landing reads = landing("/w/f");
  Landing writes = landing("/w/f");
  std::filesystem::rename(tree_.at("/w/f"), tree_.at("/w/moved"));
  tree_.link("moved", "/w/f");

  EXPECT_EQ(reason(reads.read()), "raced");
  EXPECT_EQ(reason(writes.write(WriteMode::kTruncate)), "raced");
  EXPECT_EQ(tree_.text("/w/moved"), "judged");
}

// guard 2.13: swaps the leaf for another regular file
TEST_F(LandingTest, AnotherFileUnderTheNameIsLeftAlone) {
  Landing reads = landing("/w/f");
  Landing writes = landing("/w/f");
  Landing removes = landing("/w/f");
  replace_by_file("/w/f", "another");

  EXPECT_EQ(reason(reads.read()), "raced");
  EXPECT_EQ(reason(writes.write(WriteMode::kTruncate)), "raced");
  EXPECT_EQ(reason(removes.remove()), "raced");
  EXPECT_EQ(tree_.text("/w/f"), "another");
}

TEST_F(LandingTest, AnotherFileUnderTheNameIsTakenWhereTheJudgeAgrees) {
  for (const bool agrees : {true, false}) {
    replace_by_file("/w/f", "judged");
    Landing found = landing("/w/f");
    const FileIdentity judged = found.identity();
    int asked = 0;
    found.judge_again([&](const Landing& again) {
      ++asked;
      EXPECT_NE(again.identity(), judged);
      EXPECT_EQ(again.identity(), tree_.identity("/w/f"));
      EXPECT_EQ(again.real().str(), tree_.at("/w/f"));
      return agrees;
    });
    EXPECT_EQ(content_of(*found.read()), "judged");
    EXPECT_EQ(asked, 0) << "nothing has changed";
    replace_by_file("/w/f", "another");

    const auto file = found.read();

    EXPECT_EQ(file ? content_of(*file) : reason(file), agrees ? "another" : "raced");
    EXPECT_GE(asked, 1);
    EXPECT_LE(asked, 3);
    if (!agrees) {
      EXPECT_EQ(found.identity(), judged);
    }
  }
}

TEST_F(LandingTest, TheJudgeIsNotAskedAboutLinksAndDirectories) {
  Landing found = landing("/w/f");
  found.judge_again([](const Landing&) { return true; });
  replace_by_link("/w/f", "/o/secret");
  EXPECT_EQ(reason(found.read()), "raced");
  std::filesystem::remove(tree_.at("/w/f"));
  tree_.directory("/w/f");
  EXPECT_EQ(reason(found.read()), "raced");
  EXPECT_EQ(reason(found.write(WriteMode::kTruncate)), "raced");
}

TEST_F(LandingTest, AFileThatBecameAFifoOrASocketDoesNotMakeAnybodyWait) {
  const Deadline deadline(10);
  for (const bool fifo : {true, false}) {
    Landing reads = landing("/w/f");
    Landing writes = landing("/w/f");
    std::filesystem::remove(tree_.at("/w/f"));
    if (fifo) {
      tree_.fifo("/w/f");
    } else {
      tree_.socket("/w/f");
    }
    EXPECT_EQ(reason(reads.read()), "raced");
    EXPECT_EQ(reason(writes.write(WriteMode::kAppend)), "raced");
    std::filesystem::remove(tree_.at("/w/f"));
    tree_.file("/w/f", "judged");
  }
}

// guard 2.13: creates the leaf as a link
TEST_F(LandingTest, ANameThatAppearedIsNeitherFollowedNorReplaced) {
  for (const bool as_link : {true, false}) {
    Landing creates = landing("/w/n");
    Landing makes = landing("/w/n");
    if (as_link) {
      tree_.link(tree_.at("/o/made"), "/w/n");
    } else {
      tree_.file("/w/n", "theirs");
    }

    EXPECT_EQ(reason(creates.create(0644)), "raced");
    EXPECT_EQ(reason(makes.mkdir(0755)), "raced");
    EXPECT_FALSE(tree_.has("/o/made"));
    std::filesystem::remove(tree_.at("/w/n"));
  }
  EXPECT_TRUE(landing("/w/n").create(0644));
}

// guard 2.13: renames a judged directory elsewhere (L21)
TEST_F(LandingTest, AnEffectLandsInTheDirectoryThatWasJudgedWhereverItIsNow) {
  tree_.directory("/w/d");
  Landing creates = landing("/w/d/n");
  std::filesystem::rename(tree_.at("/w/d"), tree_.at("/w/moved"));
  tree_.link(tree_.at("/o"), "/w/d");

  ASSERT_TRUE(creates.create(0644));

  EXPECT_TRUE(tree_.has("/w/moved/n"));
  EXPECT_EQ(tree_.names("/o"), (std::set<std::string>{"secret"}));
}

// guard 2.13: deletes the directory
TEST_F(LandingTest, NothingIsMadeInADirectoryThatIsGone) {
  tree_.directory("/w/d");
  Landing creates = landing("/w/d/n");
  Landing makes = landing("/w/d/n");
  std::filesystem::remove(tree_.at("/w/d"));
  tree_.directory("/w/d");

  EXPECT_EQ(reason(creates.create(0644)), "missing");
  EXPECT_EQ(reason(makes.mkdir(0755)), "missing");
  EXPECT_TRUE(tree_.names("/w/d").empty());
}

TEST_F(LandingTest, WhatExistsIsNotCreated) {
  EXPECT_EQ(landing("/w/f").create(0644).error().sys_errno, EEXIST);
  EXPECT_EQ(landing("/w/f").mkdir(0755).error().sys_errno, EEXIST);
  EXPECT_EQ(tree_.text("/w/f"), "judged");
}

TEST_F(LandingTest, FilesDirectoriesAndLinksAreRemovedAsWhatTheyAre) {
  tree_.directory("/w/d");
  tree_.directory("/w/full/inside");
  tree_.link(tree_.at("/o"), "/w/l");
  for (const char* name : {"/w/f", "/w/d", "/w/l"}) {
    EXPECT_EQ(reason(landing(name, LeafMode::kAsNamed).remove()), "landed") << name;
    EXPECT_FALSE(tree_.has(name)) << name;
  }
  const auto refused = landing("/w/full", LeafMode::kAsNamed).remove();
  EXPECT_EQ(reason(refused), "system");
  EXPECT_EQ(refused.error().sys_errno, ENOTEMPTY);
  EXPECT_EQ(reason(landing("/w/none", LeafMode::kAsNamed).remove()), "missing");
  EXPECT_TRUE(tree_.has("/o/secret"));
}

TEST_F(LandingTest, ARenameReplacesOnlyWhenThatWasAskedFor) {
  const auto rename = [this](const char* from, const char* to, RenameMode mode) {
    Landing source = landing(from, LeafMode::kAsNamed);
    Landing target = landing(to, LeafMode::kAsNamed);
    return Landing::rename(source, target, mode);
  };
  tree_.file("/w/g", "other");

  EXPECT_EQ(rename("/w/f", "/w/g", RenameMode::kKeepTarget).error().sys_errno, EEXIST);
  EXPECT_EQ(tree_.text("/w/g"), "other");
  EXPECT_EQ(reason(rename("/w/f", "/w/g", RenameMode::kReplaceTarget)), "landed");
  EXPECT_EQ(tree_.text("/w/g"), "judged");
  EXPECT_FALSE(tree_.has("/w/f"));
  EXPECT_EQ(reason(rename("/w/g", "/w/f", RenameMode::kKeepTarget)), "landed");
  EXPECT_EQ(tree_.text("/w/f"), "judged");
  EXPECT_EQ(reason(rename("/w/none", "/w/g", RenameMode::kKeepTarget)), "missing");
  EXPECT_EQ(reason(rename("/w/f", "/w/g/", RenameMode::kKeepTarget)), "not_a_directory");
}

TEST_F(LandingTest, ARenameMovesALinkAndReplacesALinkAsNames) {
  tree_.link(tree_.at("/o/secret"), "/w/l");
  tree_.link(tree_.at("/o"), "/w/m");
  Landing source = landing("/w/l", LeafMode::kAsNamed);
  Landing target = landing("/w/m", LeafMode::kAsNamed);

  EXPECT_EQ(reason(Landing::rename(source, target, RenameMode::kReplaceTarget)), "landed");

  EXPECT_EQ(std::filesystem::read_symlink(tree_.at("/w/m")), tree_.at("/o/secret"));
  EXPECT_EQ(tree_.names("/o"), (std::set<std::string>{"secret"}));
}

TEST_F(LandingTest, ARenameMovesNothingThatWasNotJudged) {
  tree_.file("/w/g", "other");
  Landing source = landing("/w/f", LeafMode::kAsNamed);
  Landing target = landing("/w/g", LeafMode::kAsNamed);
  Landing absent = landing("/w/n", LeafMode::kAsNamed);
  replace_by_file("/w/f", "another");
  EXPECT_EQ(reason(Landing::rename(source, target, RenameMode::kReplaceTarget)), "raced");

  Landing again = landing("/w/f", LeafMode::kAsNamed);
  replace_by_file("/w/g", "third");
  EXPECT_EQ(reason(Landing::rename(again, target, RenameMode::kReplaceTarget)), "raced");
  tree_.file("/w/n", "appeared");
  EXPECT_EQ(reason(Landing::rename(again, absent, RenameMode::kReplaceTarget)), "raced");
  EXPECT_EQ(tree_.text("/w/f"), "another");
  EXPECT_EQ(tree_.text("/w/g"), "third");
  EXPECT_EQ(tree_.text("/w/n"), "appeared");
}

TEST_F(LandingTest, AMountSourceIsTheJudgedObjectWhateverBecomesOfItsName) {
  Landing file = landing("/w/f");
  replace_by_link("/w/f", "/o/secret");

  const auto source = file.mount_source();

  ASSERT_TRUE(source) << reason(source);
  EXPECT_NE(source->get(), file.object()) << "an own one";
  struct stat about {};
  ASSERT_EQ(::fstat(source->get(), &about), 0);
  EXPECT_EQ(about.st_ino, file.identity().inode);
  EXPECT_NE(about.st_ino, tree_.identity("/o/secret").inode);
}

TEST_F(LandingTest, DirectoriesFilesAndSocketsAreMountedAndNothingElse) {
  tree_.fifo("/w/fifo");
  tree_.socket("/w/socket");
  for (const char* name : {"/w", "/w/f", "/w/socket"}) {
    EXPECT_TRUE(landing(name).mount_source()) << name;
  }
  EXPECT_EQ(reason(landing("/w/fifo").mount_source()), "not_regular");
  EXPECT_EQ(reason(landing("/w/none").mount_source()), "missing");
  EXPECT_EQ(reason(walk("/dev/zero")->mount_source()), "not_regular");
}

TEST_F(LandingTest, TheStatusIsThatOfTheHandle) {
  Landing file = landing("/w/f");
  replace_by_file("/w/f", "another and longer");

  EXPECT_EQ(file.status()->st_size, 6);
  EXPECT_EQ(reason(landing("/w/none").status()), "missing");
}

TEST_F(LandingTest, WhatTheKernelRefusesIsSaidInItsWords) {
  tree_.file("/w/f", "judged", 0400);
  const OrdinaryUser ordinary;
  auto found = walk(tree_.at("/w/f"));
  ASSERT_TRUE(found);
  const auto file = found->write(WriteMode::kTruncate);

  ASSERT_FALSE(file);
  EXPECT_EQ(reason(file), "system");
  const Error error = to_error(file.error(), "write /w/f");
  EXPECT_EQ(error.message, "write /w/f: Permission denied");
  EXPECT_EQ(error.code, ErrorCode::kSystem);
  EXPECT_EQ(error.sys_errno, EACCES);
  EXPECT_EQ(file.error().place, tree_.at("/w/f"));
}

}  // namespace
}  // namespace loom::guard
