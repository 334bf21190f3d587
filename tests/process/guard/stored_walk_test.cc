// The walk of macOS (guard 2.15) over a tree in memory.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "guard/freeze.h"
#include "guard/open_by_walk.h"
#include "guard/stored_lookup.h"
#include "guard/subject_of.h"
#include "guard/walk.h"
#include "guard_support.h"
#include "law/rule.h"
#include "mac_tree.h"

namespace loom::guard {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;

constexpr std::string_view kComposed = "caf\xc3\xa9";
constexpr std::string_view kDecomposed = "cafe\xcc\x81";

// As an installation has it: the three links of the root, and a home.
class StoredWalkTest : public testing::Test {
 protected:
  StoredWalkTest() {
    for (const char* const name : {"/private", "/private/tmp", "/private/var", "/private/etc"}) {
      tree_.directory(name);
    }
    for (const std::string name : {"tmp", "var", "etc"}) tree_.link("private/" + name, "/" + name);
    tree_.directory("/Users");
    tree_.directory("/Users/me");
  }

  [[nodiscard]] WalkResult<Landing> land(std::string_view name, WalkOptions options = {}) const {
    return walk(name, options, lookup_);
  }
  // The real path, or why there is none.
  [[nodiscard]] std::string real(std::string_view name, WalkOptions options = {}) const {
    const auto landing = land(name, options);
    return landing ? landing->real().str() : reason(landing);
  }

  MacTree tree_;
  StoredLookup lookup_{tree_};
};

// --- spelling
// --------------------------------------------------------------------------------------

TEST_F(StoredWalkTest, EveryComponentIsSpelledAsItsDirectoryStoresIt) {
  tree_.directory("/Users/me/Secrets");
  tree_.file("/Users/me/Secrets/Key");

  EXPECT_EQ(real("/users/ME/secretS/key"), "/Users/me/Secrets/Key");
  EXPECT_EQ(real("/Users/me/Secrets/Key"), "/Users/me/Secrets/Key");
}

TEST_F(StoredWalkTest, ANormalFormIsASpelling) {
  tree_.directory("/Users/me/" + std::string(kDecomposed));

  EXPECT_EQ(real("/Users/me/" + std::string(kComposed)), "/Users/me/" + std::string(kDecomposed));
}

TEST_F(StoredWalkTest, AnAbsentNameKeepsTheSpellingOfWhoeverWroteIt) {
  const auto landing = land("/users/me/NeW");

  ASSERT_TRUE(landing);
  EXPECT_FALSE(landing->exists());
  EXPECT_EQ(landing->real().str(), "/Users/me/NeW");
  EXPECT_EQ(landing->leaf(), "NeW");
}

// The attribute of a volume's root is the volume's name.
TEST_F(StoredWalkTest, ANameAttributeThatIsAnotherNameIsNoSpelling) {
  tree_.directory("/Users/me/disk")->attribute = "Macintosh HD";
  tree_.file("/Users/me/hard")->attribute = "other";
  tree_.file("/Users/me/odd")->attribute = "ODD/..";

  EXPECT_EQ(real("/Users/me/Disk"), "/Users/me/Disk");
  EXPECT_EQ(real("/Users/me/HARD"), "/Users/me/HARD");
  EXPECT_EQ(real("/Users/me/odd"), "/Users/me/odd");
}

TEST_F(StoredWalkTest, APlaceOfALinkIsSpelledAsStoredToo) {
  tree_.link("me", "/Users/Current");

  const auto landing = land("/users/current/f");

  ASSERT_TRUE(landing);
  EXPECT_EQ(landing->real().str(), "/Users/me/f");
  ASSERT_EQ(landing->links().size(), 1U);
  EXPECT_EQ(landing->links()[0].place.str(), "/Users/Current");
}

// --- links
// -----------------------------------------------------------------------------------------

TEST_F(StoredWalkTest, TheLinksOfTheRootLeadToPrivate) {
  tree_.directory("/private/tmp/x");

  EXPECT_EQ(real("/tmp/x"), "/private/tmp/x");
  EXPECT_EQ(real("/TMP/X"), "/private/tmp/x");
  EXPECT_EQ(real("/private/tmp/x"), "/private/tmp/x");
  EXPECT_EQ(real("/tmp/absent"), "/private/tmp/absent");
  EXPECT_EQ(real("/var/absent"), "/private/var/absent");
  EXPECT_EQ(land("/tmp/x")->identity(), tree_.identity("/private/tmp/x"));
}

// Two ways to one directory, and no link to tell.
TEST_F(StoredWalkTest, WereTheyDirectoriesRealPathsWouldBeTheSame) {
  MacTree::Node* const shared = tree_.find("/private/tmp");
  tree_.name("/tmp", shared);
  tree_.directory("/private/tmp/x");

  EXPECT_EQ(real("/tmp/x"), "/private/tmp/x");
  EXPECT_EQ(real("/Tmp"), "/private/tmp");
  EXPECT_EQ(real("/private/tmp/x"), "/private/tmp/x");
  EXPECT_EQ(real("/Users/me/tmp"), "/Users/me/tmp") << "only in the root";
}

// The kernel never says the long name of what a firmlink leads to, so rules about it are void.
TEST_F(StoredWalkTest, WhatAFirmlinkLeadsToHasNoNameOnTheDataVolume) {
  for (const char* const name : {"/System", "/System/Volumes", "/System/Volumes/Data", "/usr",
                                 "/usr/local", "/System/Volumes/Data/usr", "/Users/me/x"}) {
    tree_.directory(name);
  }
  tree_.find("/System/Volumes/Data")->attribute = "Macintosh HD - Data";
  tree_.name("/System/Volumes/Data/Users", tree_.find("/Users"));
  tree_.name("/System/Volumes/Data/usr/local", tree_.find("/usr/local"));
  tree_.directory("/System/Volumes/Data/Own");
  tree_.link("/System/Volumes/Data/Users/me", "/Users/long");

  EXPECT_EQ(real("/System/Volumes/Data/Users"), "/Users");
  EXPECT_EQ(real("/system/volumes/data/users/ME/X"), "/Users/me/x");
  EXPECT_EQ(real("/System/Volumes/Data/Users/me/absent"), "/Users/me/absent");
  EXPECT_EQ(real("/System/Volumes/Data/usr/local"), "/usr/local");
  EXPECT_EQ(real("/Users/long/x"), "/Users/me/x");
  // What lies there and has no firmlink, though a directory of the root may have its name.
  EXPECT_EQ(real("/System/Volumes/Data"), "/System/Volumes/Data");
  EXPECT_EQ(real("/System/Volumes/Data/usr"), "/System/Volumes/Data/usr");
  EXPECT_EQ(real("/System/Volumes/Data/Own"), "/System/Volumes/Data/Own");
  EXPECT_EQ(real("/System/Volumes/Data/absent"), "/System/Volumes/Data/absent");
}

TEST_F(StoredWalkTest, ALinkAtTheEndIsFollowedOrIsTheObjectOrIsRefused) {
  tree_.link("me", "/Users/l");

  EXPECT_EQ(real("/Users/l"), "/Users/me");
  const auto as_named = land("/Users/L", {.leaf = LeafMode::kAsNamed});
  ASSERT_TRUE(as_named);
  EXPECT_EQ(as_named->kind(), ObjectKind::kLink);
  EXPECT_EQ(as_named->real().str(), "/Users/l");
  EXPECT_GE(as_named->object(), 0);
  EXPECT_EQ(real("/Users/l", {.leaf = LeafMode::kRefuseLink}), "link_refused");
  EXPECT_EQ(real("/Users/l/", {.leaf = LeafMode::kAsNamed}), "/Users/me");
  EXPECT_EQ(real("/tmp", {.leaf = LeafMode::kAsNamed}), "/tmp") << "the link itself";
}

TEST_F(StoredWalkTest, DotsAfterALinkLeaveItsTarget) {
  tree_.directory("/private/tmp/deep");
  tree_.link("/tmp/deep", "/Users/me/l");

  EXPECT_EQ(real("/Users/me/l/../f"), "/private/tmp/f");
}

TEST_F(StoredWalkTest, FortyLinksAreFollowedAndNotMore) {
  tree_.file("/Users/me/0");
  for (int i = 1; i <= 41; ++i) {
    tree_.link(std::to_string(i - 1), "/Users/me/" + std::to_string(i));
  }

  EXPECT_EQ(real("/Users/me/40"), "/Users/me/0");
  EXPECT_EQ(real("/Users/me/41"), "too_many_links");
}

TEST_F(StoredWalkTest, SomebodyElsesLinkInASharedDirectoryIsNotFollowed) {
  tree_.find("/private/tmp")->mode = S_IFDIR | S_ISVTX | 0777;
  tree_.link("/Users/me", "/private/tmp/theirs")->uid = ::geteuid() + 1;
  tree_.link("/Users/me", "/private/tmp/ours")->uid = ::geteuid();

  EXPECT_EQ(real("/tmp/theirs"), "link_untrusted");
  EXPECT_EQ(real("/tmp/ours"), "/Users/me");
}

// --- handles
// ---------------------------------------------------------------------------------------

TEST_F(StoredWalkTest, WhatIsNeitherDirectoryNorFileNorLinkIsNotOpened) {
  tree_.other("/Users/me/fifo", S_IFIFO);
  tree_.other("/Users/me/socket", S_IFSOCK);
  tree_.other("/Users/me/tape", S_IFCHR);
  tree_.file("/Users/me/file");

  for (const std::string name : {"fifo", "socket", "tape"}) {
    const auto landing = land("/Users/me/" + name);
    ASSERT_TRUE(landing) << name;
    EXPECT_TRUE(landing->exists());
    EXPECT_EQ(landing->object(), -1) << name;
    EXPECT_EQ(landing->identity(), tree_.identity("/Users/me/" + name));
    EXPECT_THAT(tree_.opened, Not(Contains("file:" + name)));
    EXPECT_EQ(real("/Users/me/" + name + "/x"), "not_a_directory");
  }
  EXPECT_EQ(land("/Users/me/fifo")->kind(), ObjectKind::kFifo);
  EXPECT_EQ(land("/Users/me/socket")->kind(), ObjectKind::kSocket);
  EXPECT_EQ(land("/Users/me/tape")->kind(), ObjectKind::kCharacterDevice);
  EXPECT_GE(land("/Users/me/file")->object(), 0);
  EXPECT_THAT(tree_.opened, Contains("file:file"));
}

TEST_F(StoredWalkTest, AFileThatMayOnlyBeRunIsHeldForThatAndOtherwiseLookedAt) {
  tree_.file("/Users/me/run")->readable = false;
  MacTree::Node* const sealed = tree_.file("/Users/me/sealed");
  sealed->readable = false;
  sealed->runnable = false;

  EXPECT_GE(land("/Users/me/run")->object(), 0);
  EXPECT_THAT(tree_.opened, Contains("program:run"));
  const auto landing = land("/Users/me/sealed");
  ASSERT_TRUE(landing);
  EXPECT_EQ(landing->kind(), ObjectKind::kRegular);
  EXPECT_EQ(landing->object(), -1);
  EXPECT_EQ(landing->identity(), tree_.identity("/Users/me/sealed"));
}

TEST_F(StoredWalkTest, ADirectoryThatMayNotBeSearchedIsLandedOnAndNotWalkedThrough) {
  tree_.directory("/Users/me/closed");
  tree_.file("/Users/me/closed/f");
  tree_.find("/Users/me/closed")->searchable = false;

  const auto landing = land("/Users/me/Closed");
  ASSERT_TRUE(landing) << reason(landing);
  EXPECT_EQ(landing->kind(), ObjectKind::kDirectory);
  EXPECT_EQ(landing->real().str(), "/Users/me/closed");
  EXPECT_EQ(landing->identity(), tree_.identity("/Users/me/closed"));
  EXPECT_EQ(real("/Users/me/closed/f"), "search_denied");
  EXPECT_EQ(real("/Users/me/closed/absent"), "search_denied");
}

TEST_F(StoredWalkTest, DirectoriesOnTheWayAreOpenedForSearchingAlone) {
  tree_.directory("/Users/me/a");
  tree_.file("/Users/me/a/f");

  ASSERT_TRUE(land("/Users/me/a/f"));

  EXPECT_THAT(tree_.opened,
              ElementsAre("directory:Users", "directory:me", "directory:a", "file:f"));
}

// --- races
// -----------------------------------------------------------------------------------------

TEST_F(StoredWalkTest, ANameThatIsAnotherObjectAtEveryLookIsRaced) {
  MacTree::Node* const one = tree_.file("/Users/me/f");
  MacTree::Node* const two = tree_.file("/Users/me/g");
  bool first = true;
  tree_.meanwhile = [&](std::string_view call, std::string_view name) {
    if (call != "open" || name != "f") return;
    first = !first;
    tree_.name("/Users/me/f", first ? one : two);
  };

  EXPECT_EQ(real("/Users/me/f"), "raced");
}

TEST_F(StoredWalkTest, OneExchangeBetweenTwoLooksIsSeenThrough) {
  MacTree::Node* const two = tree_.link("/tmp", "/Users/me/l");
  tree_.file("/Users/me/f");
  int opens = 0;
  tree_.meanwhile = [&](std::string_view call, std::string_view name) {
    if (call == "open" && name == "f" && ++opens == 2) tree_.name("/Users/me/f", two);
  };

  EXPECT_EQ(real("/Users/me/f"), "/private/tmp") << "the link, walked to where it leads";
}

TEST_F(StoredWalkTest, ALinkThatIsExchangedBeforeItIsReadIsRaced) {
  tree_.link("me", "/Users/l");
  MacTree::Node* const other = tree_.link("/private", "/Users/m");
  tree_.meanwhile = [&](std::string_view call, std::string_view name) {
    if (call == "read_link" && name == "l") tree_.name("/Users/l", other);
  };

  EXPECT_EQ(real("/Users/l"), "raced");
}

TEST_F(StoredWalkTest, ANameThatIsGoneBeforeItIsHeldIsAbsent) {
  tree_.file("/Users/me/f");
  tree_.meanwhile = [&](std::string_view call, std::string_view name) {
    if (call == "status_of" && name == "f") tree_.find("/Users/me")->entries.erase("f");
  };

  const auto landing = land("/Users/me/f");

  ASSERT_TRUE(landing) << reason(landing);
  EXPECT_FALSE(landing->exists());
}

// --- reopening, and the law
// ------------------------------------------------------------------------

TEST_F(StoredWalkTest, ReopeningARealPathRefusesEveryLink) {
  tree_.directory("/Users/me/d");
  tree_.file("/Users/me/f");
  tree_.link("d", "/Users/me/l");
  tree_.other("/Users/me/fifo", S_IFIFO);
  const auto error = [&](const std::string& name, int flags) {
    const Opened opened = open_by_walk(path(name), flags, lookup_);
    EXPECT_EQ(static_cast<bool>(opened.handle), opened.error == 0) << name;
    return opened.error;
  };

  EXPECT_EQ(error("/Users/me/d", O_DIRECTORY), 0);
  EXPECT_EQ(error("/Users/me/f", 0), 0);
  EXPECT_EQ(error("/Users/me/f", O_DIRECTORY), ENOTDIR);
  EXPECT_EQ(error("/Users/me/l", 0), ELOOP);
  EXPECT_EQ(error("/tmp/x", 0), ELOOP);
  EXPECT_EQ(error("/Users/me/absent", 0), ENOENT);
  EXPECT_EQ(error("/Users/absent/f", 0), ENOENT);
  EXPECT_EQ(error("/Users/me/fifo", 0), EACCES);
}

law::Exclusion exclusion_of(const Frozen& frozen) {
  return law::Exclusion::directory(
      {.real = frozen.fact.real,
       .directory = frozen.fact.kind == PathKind::kDirectory ? std::optional(frozen.fact.identity)
                                                             : std::nullopt},
      {});
}

// guard 9.8: 161
TEST_F(StoredWalkTest, WhatIsExcludedInTmpIsExcludedInPrivateTmpAndTheOtherWayRound) {
  tree_.directory("/private/tmp/x");
  tree_.file("/private/tmp/x/t");
  tree_.directory("/private/tmp/y");
  tree_.file("/private/tmp/y/t");

  for (const char* const written :
       {"/tmp/x", "/private/tmp/x", "/tmp/absent", "/private/TMP/Absent"}) {
    const Frozen frozen = freeze(path(written), lookup_);
    const law::Exclusion excluded = exclusion_of(frozen);
    const std::string name(written + std::string(written).rfind('/') + 1);
    for (const std::string tmp : {"/tmp/", "/private/tmp/", "/Private/Tmp/"}) {
      const bool there = name == "x";
      const auto inside = there ? land(tmp + name + "/t") : land(tmp + name);
      ASSERT_TRUE(inside) << tmp << name << ": " << reason(inside);
      const law::Subject subject =
          there ? subject_of(*inside) : law::Subject::inside(inside->real());
      EXPECT_TRUE(excluded.holds(subject).has_value()) << written << " for " << tmp << name;
    }
    EXPECT_FALSE(excluded.holds(subject_of(*land("/tmp/y/t"))).has_value());
  }
}

// An allowance reads names as stored, and so an author's spelling must have become that.
TEST_F(StoredWalkTest, AnAllowanceIsFrozenUnderTheStoredName) {
  tree_.directory("/Users/me/Tools");
  tree_.file("/Users/me/Tools/t");

  const law::Allowance allowed =
      law::Allowance::directory(freeze(path("/users/me/tools"), lookup_).fact.real, {});

  EXPECT_TRUE(allowed.holds(subject_of(*land("/USERS/ME/TOOLS/T"))));
  EXPECT_TRUE(allowed.holds(subject_of(*land("/Users/me/Tools/t"))));
}

// guard 9.8: 155
TEST_F(StoredWalkTest, AnotherSpellingOfAnAbsentProtectedPathIsProtected) {
  const law::Exclusion hidden = exclusion_of(freeze(path("/Users/me/Secrets"), lookup_));

  const auto variant = land("/Users/me/secrets");
  const auto beside = land("/Users/me/secrets2");

  EXPECT_TRUE(hidden.holds(law::Subject::inside(variant->real())).has_value());
  EXPECT_FALSE(hidden.holds(law::Subject::inside(beside->real())).has_value());
}

// --- a landing without a handle of its object
// -------------------------------------------------

// The files of this machine, as a system would give them that has no O_PATH.
class HandlesOfDirectories final : public WalkCalls {
 public:
  HandlesOfDirectories() = default;
  [[nodiscard]] LookedUp root() const override { return system_.root(); }
  [[nodiscard]] LookedUp look_up(int directory, const std::string& name,
                                 bool enter_automounts) const override {
    LookedUp found = system_.look_up(directory, name, enter_automounts);
    if (found.error == 0 && !S_ISDIR(found.about.st_mode)) found.handle.reset();
    return found;
  }
  [[nodiscard]] FileSystemKind file_system(int handle) const override {
    return system_.file_system(handle);
  }
  [[nodiscard]] ssize_t read_link(int directory, const std::string& name, const LookedUp& /*link*/,
                                  char* text, std::size_t size) const override {
    return ::readlinkat(directory, name.c_str(), text, size);
  }

 private:
  const WalkCalls& system_ = system_walk_calls();
};

TEST(LandingWithoutHandleTest, EffectsAndStatusAreThoseOfTheJudgedObject) {
  const Tree tree;
  tree.file("/w/f", "one");
  tree.link("f", "/w/l");
  const HandlesOfDirectories calls;
  auto file = walk(tree.at("/w/l"), {}, calls);
  ASSERT_TRUE(file) << reason(file);

  EXPECT_EQ(file->object(), -1);
  EXPECT_TRUE(file->exists());
  EXPECT_EQ(file->status()->st_size, 3);
  EXPECT_EQ(content_of(*file->read()), "one");
  EXPECT_EQ(reason(file->mount_source()), "not_regular") << "there is nothing to lend";

  ASSERT_EQ(::rename(tree.at("/w/f").c_str(), tree.at("/w/g").c_str()), 0);
  tree.file("/w/f", "two");
  EXPECT_EQ(reason(file->status()), "raced");
  EXPECT_EQ(reason(file->read()), "raced");
  EXPECT_EQ(reason(file->remove()), "raced");
  EXPECT_TRUE(tree.has("/w/f"));
}

TEST(LandingWithoutHandleTest, NothingIsStillReadThroughItsDevice) {
  const HandlesOfDirectories calls;
  auto null = walk("/dev/null", {}, calls);
  ASSERT_TRUE(null);
  EXPECT_EQ(null->kind(), ObjectKind::kCharacterDevice);
  EXPECT_EQ(content_of(*null->read()), "");
}

}  // namespace
}  // namespace loom::guard
