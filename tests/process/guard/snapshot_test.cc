#include "guard/snapshot.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "guard/placeholder.h"
#include "judging_support.h"
#include "tests/support/promised.h"

namespace loom::guard {
namespace {

class SnapshotTest : public ::testing::Test {
 protected:
  void program(std::string_view name) const { world_.tree.file(name, "#!/bin/true\n", 0755); }

  [[nodiscard]] law::Subject file(std::string_view name) const {
    return law::Subject::file(world_.at(name));
  }
  [[nodiscard]] law::Subject inside(std::string_view name) const {
    return law::Subject::inside(world_.at(name));
  }
  // "for", "none", …, of the table in force.
  [[nodiscard]] static std::string says(const Snapshot& snapshot, const law::Subject& subject) {
    return std::string(law::evidence_name(snapshot.exec().evidence(subject)));
  }
  // The names of the tree that a backend is told of.
  [[nodiscard]] std::vector<std::string> names(const std::vector<ExecRule>& rules) const {
    std::vector<std::string> names;
    const std::string base = world_.tree.at("");
    for (const ExecRule& rule : rules) {
      if (rule.scope == ExecScope::kAny) {
        names.emplace_back("*");
      } else if (rule.scope == ExecScope::kName) {
        names.push_back(rule.name);
      } else {
        names.push_back(rule.real.str().substr(base.size()));
      }
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  // How a protected path holds the subject; nothing if none does.
  [[nodiscard]] static std::optional<law::Match> hides(const Snapshot& snapshot,
                                                       const law::Subject& subject) {
    const auto rule = law::deciding_exclusion(snapshot.protected_paths(), subject);
    return rule ? std::optional(rule->match) : std::nullopt;
  }

  World world_;
};

TEST_F(SnapshotTest, NoTableIsNoOpinion) {
  const Snapshot snapshot = world_.snapshot();

  EXPECT_EQ(snapshot.exec(), law::Table::no_opinion());
  EXPECT_FALSE(snapshot.rules().restrictive);
  EXPECT_EQ(snapshot.counts(), ExecCounts{});
}

TEST_F(SnapshotTest, ATableThatAllowsEverythingAndDeniesNothingIsNotRestrictive) {
  world_.table(true, {}, {});
  EXPECT_FALSE(world_.snapshot().rules().restrictive);

  world_.table(false, {}, {});
  EXPECT_TRUE(world_.snapshot().rules().restrictive);
}

TEST_F(SnapshotTest, AnAllowanceHoldsWhereItLedAndNotItsOwnName) {
  world_.tree.directory("/o/bin");
  world_.tree.link("../o/bin", "/w/bin");
  world_.table(false, {world_.dir("/w/bin")}, {});

  const Snapshot snapshot = world_.snapshot();

  EXPECT_EQ(says(snapshot, file("/o/bin/t")), "for");
  EXPECT_EQ(says(snapshot, file("/w/bin/t")), "none");
  ASSERT_EQ(snapshot.rules().allow.size(), 1u);
  const ExecRule rule = snapshot.rules().allow[0];
  EXPECT_EQ(rule.scope, ExecScope::kDirectory);
  EXPECT_EQ(rule.real, world_.at("/o/bin"));
  EXPECT_EQ(rule.written, world_.tree.at("/w/bin"));
  EXPECT_EQ(rule.identity, world_.tree.identity("/o/bin"));
  EXPECT_EQ(rule.parent_identity, world_.tree.identity("/o"));
}

TEST_F(SnapshotTest, AnAllowanceStaysWhereItWasFrozen) {
  world_.tree.directory("/o/bin");
  world_.tree.link("../o/bin", "/w/bin");
  world_.table(false, {world_.dir("/w/bin")}, {});
  const Snapshot snapshot = world_.snapshot();

  std::filesystem::remove(world_.tree.at("/w/bin"));
  world_.tree.link("/usr/bin", "/w/bin");

  EXPECT_EQ(snapshot.rules().allow[0].real, world_.at("/o/bin"));
  EXPECT_EQ(says(snapshot, law::Subject::file(path("/usr/bin/env"))), "none");
}

TEST_F(SnapshotTest, AllowancesOfNothingAndOfTheOtherKindAreDroppedAndCounted) {
  program("/o/t");
  world_.tree.directory("/o/d");
  world_.tree.fifo("/o/fifo");
  world_.tree.directory("/o/held", kLeafMode);
  world_.table(false,
               {world_.file("/o/t"), world_.dir("/o/d"),       // kept
                world_.file("/o/absent"), world_.dir("/o/t"),  // dropped
                world_.file("/o/d"), world_.file("/o/fifo"), world_.dir("/o/held")},
               {});

  const Snapshot snapshot = world_.snapshot();

  EXPECT_EQ(snapshot.counts().dropped, 5u);
  EXPECT_EQ(snapshot.counts().dead, 0u);
  EXPECT_EQ(names(snapshot.rules().allow), (std::vector<std::string>{"/o/d", "/o/t"}));
  EXPECT_EQ(says(snapshot, file("/o/absent")), "none");
  EXPECT_EQ(says(snapshot, file("/o/t")), "for");
}

TEST_F(SnapshotTest, WhatAnExclusionOrAnotherLayerOverrulesIsDeadAndCounted) {
  world_.tree.directory("/o/a/b");
  world_.tree.directory("/o/c");
  world_.table(false, {world_.dir("/o/a"), world_.dir("/o/a/b"), world_.dir("/o/c")},
               {world_.dir("/o/a/b")});
  world_.table(false, {world_.dir("/o/a")}, {});

  const Snapshot snapshot = world_.snapshot();

  EXPECT_EQ(snapshot.counts().dead, 2u) << "one excluded, one the second layer is silent about";
  EXPECT_EQ(names(snapshot.rules().allow), std::vector<std::string>{"/o/a"}) << "each once";
  EXPECT_EQ(says(snapshot, file("/o/a/t")), "for");
  EXPECT_EQ(says(snapshot, file("/o/a/b/t")), "both");
  EXPECT_EQ(says(snapshot, file("/o/c/t")), "none");
}

TEST_F(SnapshotTest, AnExclusionHoldsItsTargetAndTheNameOfItsLink) {
  world_.tree.directory("/o/real");
  world_.tree.link("../o/real", "/w/l");
  world_.table(true, {}, {world_.dir("/w/l")});

  const Snapshot snapshot = world_.snapshot();

  EXPECT_EQ(says(snapshot, file("/o/real/t")), "both");
  EXPECT_EQ(says(snapshot, file("/w/l/t")), "both");
  EXPECT_EQ(says(snapshot, file("/w/l")), "both") << "should a file get the link's name";
  EXPECT_EQ(says(snapshot, file("/o/t")), "for");
  EXPECT_EQ(names(snapshot.rules().deny), (std::vector<std::string>{"/o/real", "/w/l", "/w/l"}));
}

TEST_F(SnapshotTest, OnlyTheNameItselfIsHeldBesidesTheTarget) {
  world_.tree.directory("/o/real");
  world_.tree.file("/o/real/k");
  world_.tree.link("../o/real", "/w/l");
  world_.table(true, {}, {world_.file("/w/l/k")});

  const Snapshot snapshot = world_.snapshot();

  EXPECT_EQ(names(snapshot.rules().deny), std::vector<std::string>{"/o/real/k"});
  EXPECT_EQ(snapshot.rules().deny[0].identity, world_.tree.identity("/o/real/k"));
  EXPECT_EQ(snapshot.rules().deny[0].parent_identity, world_.tree.identity("/o/real"));
}

TEST_F(SnapshotTest, ADanglingExclusionHoldsItsLinkAndTheAbsentTarget) {
  world_.tree.link("../o/later", "/w/l");
  world_.table(true, {}, {world_.file("/w/l")});

  const Snapshot snapshot = world_.snapshot();

  EXPECT_EQ(says(snapshot, file("/o/later")), "both");
  EXPECT_EQ(says(snapshot, file("/w/l")), "both");
  EXPECT_EQ(snapshot.excluded_object(world_.at("/o/later")), FileIdentity{});
}

TEST_F(SnapshotTest, AnAbsentExclusionStaysAndKnowsWhatExistsAboveIt) {
  world_.table(true, {}, {world_.dir("/o/none/deep")});

  const Snapshot snapshot = world_.snapshot();

  EXPECT_EQ(says(snapshot, file("/o/none/deep/t")), "both");
  EXPECT_EQ(says(snapshot, file("/o/none/t")), "for");
  ASSERT_EQ(snapshot.exec().exclusions().size(), 1u);
  const std::vector<FileIdentity>& above = snapshot.exec().exclusions()[0].place()->above;
  EXPECT_EQ(above.back(), world_.tree.identity("/o"));
  EXPECT_EQ(snapshot.rules().deny[0].identity, FileIdentity{});
}

TEST_F(SnapshotTest, AnExclusionOfTheOtherKindHoldsTheNameAsBoth) {
  world_.tree.file("/o/f");
  world_.tree.directory("/o/d");
  world_.tree.directory("/o/d2");
  world_.table(true, {}, {world_.dir("/o/f"), world_.file("/o/d"), world_.dir("/o/d2")});

  const Snapshot snapshot = world_.snapshot();

  EXPECT_EQ(says(snapshot, file("/o/f")), "both");
  EXPECT_EQ(says(snapshot, file("/o/d/t")), "both");
  EXPECT_EQ(says(snapshot, file("/o/d2/t")), "both");
  EXPECT_EQ(says(snapshot, file("/o/d2")), "for") << "a directory of the kind that was written";
  EXPECT_EQ(names(snapshot.rules().deny),
            (std::vector<std::string>{"/o/d", "/o/d", "/o/d2", "/o/f", "/o/f"}));
}

TEST_F(SnapshotTest, ABareNameAllowsTheFirstProgramOfTheOwnSearchPathAndNoMore) {
  for (const char* const place : {"/o/asked", "/o/empty", "/o/first", "/o/second"}) {
    world_.tree.directory(place);
  }
  program("/o/asked/g");
  world_.tree.file("/o/empty/g", "text", 0644);
  program("/o/first/g");
  program("/o/second/g");
  world_.search.own = {world_.at("/o/empty"), world_.at("/o/first"), world_.at("/o/second")};
  world_.search.all = world_.search.own;
  world_.search.all.insert(world_.search.all.begin(), world_.at("/o/asked"));
  world_.table(false, {World::bare("g"), World::bare("nowhere")}, {});

  const Snapshot snapshot = world_.snapshot();

  EXPECT_EQ(says(snapshot, file("/o/first/g")), "for");
  EXPECT_EQ(says(snapshot, file("/o/asked/g")), "none") << "what a caller asks for grants nothing";
  EXPECT_EQ(says(snapshot, file("/o/empty/g")), "none");
  EXPECT_EQ(says(snapshot, file("/o/second/g")), "none");
  EXPECT_EQ(snapshot.counts().dropped, 1u);
  EXPECT_EQ(snapshot.rules().allow[0].written, "g");
}

TEST_F(SnapshotTest, ABareNameExcludesEveryFileThatAnySearchPathFinds) {
  world_.tree.directory("/o/asked");
  world_.tree.directory("/o/first");
  world_.tree.file("/o/asked/sh", "text", 0644);
  program("/o/first/dash");
  program("/o/first/other");
  world_.tree.link("dash", "/o/first/sh");
  world_.search.own = {world_.at("/o/first")};
  world_.search.all = {world_.at("/o/asked"), world_.at("/o/first")};
  world_.table(true, {}, {World::bare("sh")});

  const Snapshot snapshot = world_.snapshot();

  EXPECT_EQ(says(snapshot, file("/o/first/dash")), "both") << "what the name leads to";
  EXPECT_EQ(says(snapshot, file("/o/asked/sh")), "both") << "whether it can be run or not";
  EXPECT_EQ(says(snapshot, file("/w/SH")), "both") << "the name, wherever it is";
  EXPECT_EQ(says(snapshot, file("/o/first/other")), "for");
  const std::vector<std::string> expected = {"/o/asked/sh", "/o/first/dash", "sh"};
  EXPECT_EQ(names(snapshot.rules().deny), expected);
}

TEST_F(SnapshotTest, ExcludedFilesWithAFurtherNameAreCountedOnce) {
  program("/o/t");
  program("/o/single");
  std::filesystem::create_hard_link(world_.tree.at("/o/t"), world_.tree.at("/w/t"));
  world_.search.all = {world_.at("/o")};
  world_.table(
      true, {},
      {world_.file("/o/t"), World::bare("t"), world_.file("/o/single"), world_.dir("/o/none")});

  EXPECT_EQ(world_.snapshot().counts().links, 1u);
}

TEST_F(SnapshotTest, AProtectedPathIsHeldAsBothKindsAndUnderItsLinksName) {
  world_.tree.file("/o/key");
  world_.tree.link("../o/key", "/w/l");
  world_.hidden("/w/l");

  const Snapshot snapshot = world_.snapshot();

  EXPECT_EQ(hides(snapshot, file("/o/key")), law::Match::kStored);
  EXPECT_EQ(hides(snapshot, file("/o/KEY")), law::Match::kFolded);
  EXPECT_EQ(hides(snapshot, file("/w/l")), law::Match::kStored);
  EXPECT_EQ(hides(snapshot, inside("/w/l")), law::Match::kStored);
  EXPECT_EQ(hides(snapshot, file("/w/other")), std::nullopt);
  EXPECT_EQ(snapshot.excluded_object(world_.at("/o/key")), world_.tree.identity("/o/key"));
}

TEST_F(SnapshotTest, KnowsWhereEachRegionOfThePolicyLed) {
  world_.tree.directory("/o/real");
  world_.tree.link("../o/real", "/w/l");
  world_.policy.readable_roots = {world_.at("/w/absent"), world_.at("/w/l")};
  world_.policy.scratch.host_path = world_.at("/w");

  const Snapshot snapshot = world_.snapshot();

  const std::vector<PolicyRegion> expected = {{.list = "readable_roots",
                                               .index = 0,
                                               .written = world_.at("/w/absent"),
                                               .real = world_.at("/w/absent")},
                                              {.list = "readable_roots",
                                               .index = 1,
                                               .written = world_.at("/w/l"),
                                               .real = world_.at("/o/real"),
                                               .identity = world_.tree.identity("/o/real")},
                                              {.list = "scratch",
                                               .index = 0,
                                               .written = world_.at("/w"),
                                               .real = world_.at("/w"),
                                               .writable = true,
                                               .identity = world_.tree.identity("/w")}};
  EXPECT_EQ(snapshot.regions(), expected);
}

TEST_F(SnapshotTest, TheRulesSayWhatEveryLayerTogetherWants) {
  world_.exec.required = true;
  world_.exec.memfd_noexec = true;
  EXPECT_TRUE(world_.snapshot().rules().required);
  EXPECT_TRUE(world_.snapshot().rules().memfd_noexec);

  world_.exec.required = false;
  world_.exec.memfd_noexec = false;
  EXPECT_FALSE(world_.snapshot().rules().required);
  EXPECT_FALSE(world_.snapshot().rules().memfd_noexec);
  EXPECT_TRUE(world_.snapshot().rules().support.empty());
}

// A table that reaches programs through links, some of which lie where the command can write. The
// targets lie in /o.
class LinksTest : public SnapshotTest {
 protected:
  void SetUp() override {
    world_.tree.directory("/o/bin");
    program("/o/bin/t");
  }
  // Of one allowance, whose target is the directory /o/bin: whether it holds there.
  [[nodiscard]] bool allows(std::string_view link) {
    world_.exec.layers.clear();
    world_.table(false, {world_.dir(link)}, {});
    const Snapshot snapshot = world_.snapshot();
    const bool kept = says(snapshot, file("/o/bin/t")) == "for";
    EXPECT_EQ(snapshot.counts().dropped, kept ? 0u : 1u);
    EXPECT_EQ(snapshot.rules().allow.size(), kept ? 1u : 0u);
    EXPECT_EQ(snapshot.remarks(), kept ? std::vector<std::string>{}
                                       : std::vector{remark("allowed", world_.tree.at(link))});
    return kept;
  }
  [[nodiscard]] static std::string remark(const std::string& what, const std::string& written) {
    return "mounts: " + what + " program path " + written +
           " is reached through a link the command can replace";
  }
  void link_to_bin(std::string_view name) const {
    world_.tree.link(world_.tree.at("/o/bin"), name);
  }
};

TEST_F(LinksTest, AnAllowanceThatFollowsALinkOfTheCommandsGrantsNothing) {
  link_to_bin("/w/l");
  world_.tree.link(world_.tree.at("/w/l"), "/o/twice");
  link_to_bin("/o/l");
  EXPECT_TRUE(allows("/w/l")) << "control: nobody can write /w yet";

  world_.writable("/w");

  EXPECT_FALSE(allows("/w/l"));
  EXPECT_FALSE(allows("/o/twice")) << "the second of its links";
  EXPECT_TRUE(allows("/o/l"));
  EXPECT_TRUE(allows("/o/bin"));
}

TEST_F(LinksTest, SoDoesOneOfAFileAndOneOfABareName) {
  world_.tree.link(world_.tree.at("/o/bin/t"), "/w/f");
  world_.tree.directory("/o/search");
  world_.tree.link(world_.tree.at("/w/f"), "/o/search/g");
  world_.tree.link(world_.tree.at("/o/bin/t"), "/o/search/h");
  world_.search.own = world_.search.all = {world_.at("/o/search")};
  world_.writable("/w");
  const auto taken = [this](ExecEntry entry) {
    world_.exec.layers.clear();
    world_.table(false, {std::move(entry)}, {});
    return world_.snapshot();
  };

  EXPECT_EQ(says(taken(world_.file("/w/f")), file("/o/bin/t")), "none");
  const Snapshot name = taken(World::bare("g"));
  EXPECT_EQ(says(name, file("/o/bin/t")), "none");
  EXPECT_EQ(name.remarks(), std::vector{remark("allowed", "g")});
  EXPECT_EQ(says(taken(World::bare("h")), file("/o/bin/t")), "for");
}

TEST_F(LinksTest, ADroppedAllowanceIsKnownByWhatItWouldHaveHeld) {
  link_to_bin("/w/l");
  world_.writable("/w");
  world_.table(false, {world_.dir("/w/l")}, {});

  const Snapshot snapshot = world_.snapshot();

  const std::string* const why = snapshot.why_dropped(file("/o/bin/t"));
  ASSERT_NE(why, nullptr);
  EXPECT_EQ(*why, snapshot.remarks()[0]);
  EXPECT_EQ(snapshot.why_dropped(file("/o/t")), nullptr);
}

TEST_F(LinksTest, WhateverALinkOfTheCommandsLeadsToItIsNamed) {
  world_.writable("/w");
  for (const char* const target : {"none", "none/deep", "l", "/", "/proc/self/exe", "/dev/null"}) {
    world_.tree.link(target, "/w/l");
    for (const ExecEntry& entry : {world_.dir("/w/l"), world_.file("/w/l")}) {
      world_.exec.layers.clear();
      world_.table(false, {entry}, {entry});
      const Snapshot snapshot = world_.snapshot();
      EXPECT_TRUE(snapshot.rules().allow.empty()) << target;
      const std::vector expected = {remark("allowed", entry.value), remark("denied", entry.value)};
      EXPECT_EQ(snapshot.remarks(), expected) << target;
      EXPECT_EQ(snapshot.why_dropped(file("/o/bin/t")) != nullptr,
                std::string_view(target) == "/" && entry.kind == ExecEntryKind::kDirectory);
    }
    std::filesystem::remove(world_.tree.at("/w/l"));
  }
}

TEST_F(LinksTest, EachRegionThatTheCommandWritesCounts) {
  for (const char* const name : {"/o/rw", "/o/ro", "/o/scratch"}) {
    world_.tree.directory(name);
    link_to_bin(std::string(name) + "/l");
  }
  world_.mounted("/o/rw", true);
  world_.mounted("/o/ro", false);
  world_.policy.scratch.host_path = world_.at("/o/scratch");

  EXPECT_FALSE(allows("/o/rw/l"));
  EXPECT_FALSE(allows("/o/scratch/l"));
  EXPECT_TRUE(allows("/o/ro/l"));
}

// It may have been absent when another run began, and was writable then.
TEST_F(LinksTest, AReadOnlyRegionInAWritableOneKeepsTheCommandFromNothing) {
  for (const char* const name : {"/w/root/deep", "/w/mount", "/o/root", "/o/mount"}) {
    world_.tree.directory(name);
    link_to_bin(std::string(name) + "/l");
  }
  world_.writable("/w");
  for (const char* const top : {"/w", "/o"}) {
    world_.readable(std::string(top) + "/root");
    world_.mounted(std::string(top) + "/mount", false);
  }

  EXPECT_FALSE(allows("/w/root/deep/l"));
  EXPECT_FALSE(allows("/w/mount/l"));
  EXPECT_TRUE(allows("/o/root/l"));
  EXPECT_TRUE(allows("/o/mount/l"));
}

TEST_F(LinksTest, AtOnePlaceTheWritableEntryDecides) {
  world_.tree.directory("/o/both");
  link_to_bin("/o/both/l");
  world_.readable("/o/both");
  EXPECT_TRUE(allows("/o/both/l"));
  world_.writable("/o/both");
  EXPECT_FALSE(allows("/o/both/l"));
}

TEST_F(LinksTest, TheFloorInsideAWritableRegionIsNotTheCommands) {
  world_.tree.directory("/w/sys/deep");
  link_to_bin("/w/sys/deep/l");
  world_.tree.directory("/w/real");
  link_to_bin("/w/real/l");
  world_.tree.link("real", "/w/aimed");
  world_.writable("/w");
  world_.grounds.floor = {world_.at("/w/sys"), world_.at("/w/aimed")};

  EXPECT_TRUE(allows("/w/sys/deep/l"));
  EXPECT_FALSE(allows("/w/real/l")) << "the floor is shown there under the link's name alone";

  world_.policy.writable_roots = {AbsolutePath::root()};
  EXPECT_TRUE(allows("/w/real/l")) << "with the whole host its links are followed";
  link_to_bin("/w/l");
  EXPECT_FALSE(allows("/w/l"));
}

TEST_F(LinksTest, WhereAnotherPolicyLetACommandWriteCountsWhateverThisOneShowsReadOnly) {
  link_to_bin("/w/l");
  world_.readable("/w");
  EXPECT_TRUE(allows("/w/l"));

  world_.grounds.written_before = {world_.at("/w")};

  EXPECT_FALSE(allows("/w/l"));
}

TEST_F(LinksTest, ALinkIsTheCommandsUnderEveryNameThatTheMountsGiveIt) {
  world_.tree.directory("/w/sub");
  world_.tree.directory("/o/again");
  link_to_bin("/o/again/l");
  world_.writable("/w");
  EXPECT_TRUE(allows("/o/again/l")) << "control: nobody says that /o/again is /w/sub";

  const std::vector<MountFact> mounts = {
      {.point = AbsolutePath::root(), .root = AbsolutePath::root(), .device = "8:1"},
      {.point = world_.at("/o/again"), .root = world_.at("/w/sub"), .device = "8:1"}};
  world_.grounds.mounts = &mounts;

  EXPECT_FALSE(allows("/o/again/l"));
}

TEST_F(LinksTest, AndWhereTheRegionItselfIsShownOnceMore) {
  if (::geteuid() != 0) GTEST_SKIP() << "it takes the superuser to mount";
  world_.tree.directory("/w/ro");
  world_.tree.directory("/o/again");
  link_to_bin("/w/l");
  world_.writable("/w");

  const bool mounted = in_private_mounts([&] {
    mount_bind(world_.tree.at("/w"), world_.tree.at("/o/again"));
    EXPECT_FALSE(allows("/o/again/l"));
    world_.readable("/o/again");
    EXPECT_FALSE(allows("/o/again/l")) << "still writable under its other name";
  });
  if (!mounted) LOOM_SKIP_UNLESS_PROMISED("this machine mounts nothing");
}

TEST_F(LinksTest, AnExclusionThatFollowsOneKeepsItsPlacesAndIsNamed) {
  link_to_bin("/w/l");
  link_to_bin("/o/l");
  world_.tree.directory("/o/search");
  world_.tree.link(world_.tree.at("/w/l/t"), "/o/search/g");
  world_.search.all = {world_.at("/o/search")};
  world_.writable("/w");
  const auto taken = [this](ExecEntry entry) {
    world_.exec.layers.clear();
    world_.table(true, {}, {std::move(entry)});
    return world_.snapshot();
  };

  const Snapshot one = taken(world_.dir("/w/l"));
  EXPECT_EQ(says(one, file("/o/bin/t")), "both");
  EXPECT_EQ(says(one, file("/w/l")), "both");
  EXPECT_EQ(one.remarks(), std::vector{remark("denied", world_.tree.at("/w/l"))});

  const Snapshot name = taken(World::bare("g"));
  EXPECT_EQ(says(name, file("/o/bin/t")), "both");
  EXPECT_EQ(name.remarks(), std::vector{remark("denied", "g")});

  EXPECT_EQ(says(taken(world_.dir("/o/l")), file("/o/bin/t")), "both");
  EXPECT_TRUE(taken(world_.dir("/o/l")).remarks().empty());
  EXPECT_TRUE(taken(World::bare("t")).remarks().empty());
}

TEST_F(LinksTest, AnEntryOfTwoLayersIsNamedOnce) {
  link_to_bin("/w/l");
  world_.writable("/w");
  world_.table(false, {world_.dir("/w/l")}, {});
  world_.table(false, {world_.dir("/w/l")}, {});

  const Snapshot snapshot = world_.snapshot();

  EXPECT_EQ(snapshot.counts().dropped, 2u);
  EXPECT_EQ(snapshot.remarks().size(), 1u);
}

TEST_F(LinksTest, NoLinkAllowsTheRoot) {
  world_.tree.link("/", "/o/everything");
  world_.table(false, {world_.dir("/o/everything"), world_.dir("/o/bin")}, {});

  const Snapshot snapshot = world_.snapshot();

  EXPECT_EQ(snapshot.counts().dropped, 1u);
  EXPECT_EQ(names(snapshot.rules().allow), std::vector<std::string>{"/o/bin"});
  EXPECT_TRUE(snapshot.rules().restrictive);
  EXPECT_TRUE(snapshot.remarks().empty()) << "the link is nobody's to replace";
}

class ScratchTest : public SnapshotTest {
 protected:
  [[nodiscard]] bool scratch_runs(bool allow_by_default, std::vector<ExecEntry> allow,
                                  std::vector<ExecEntry> deny) {
    world_.exec.layers.clear();
    world_.table(allow_by_default, std::move(allow), std::move(deny));
    return world_.snapshot().rules().scratch_runs;
  }
  static ExecEntry dir_at(std::string where) {
    return {.kind = ExecEntryKind::kDirectory, .value = std::move(where)};
  }
  static ExecEntry file_at(std::string where) {
    return {.kind = ExecEntryKind::kFile, .value = std::move(where)};
  }
};

TEST_F(ScratchTest, RunsWhereTheTableAdmitsAllOfItAndExcludesNothingThere) {
  EXPECT_TRUE(scratch_runs(true, {}, {file_at("/usr/bin/curl")}));
  EXPECT_TRUE(scratch_runs(false, {dir_at("/tmp")}, {}));
  EXPECT_TRUE(scratch_runs(true, {}, {World::bare("curl")})) << "a name is the guard's alone there";

  EXPECT_FALSE(scratch_runs(false, {dir_at("/usr")}, {}));
  EXPECT_FALSE(scratch_runs(true, {}, {dir_at("/tmp")}));
  EXPECT_FALSE(scratch_runs(true, {}, {file_at("/tmp")}));
  EXPECT_FALSE(scratch_runs(true, {}, {file_at("/tmp/none/such")}));
  EXPECT_FALSE(scratch_runs(true, {}, {file_at("/TMP/x")})) << "under another spelling";
  EXPECT_FALSE(scratch_runs(true, {}, {file_at("/TMP")})) << "which is absent";
}

TEST_F(ScratchTest, OfTheHostIsNoPrivateOne) {
  world_.policy.scratch.host_path = world_.at("/w");
  EXPECT_FALSE(scratch_runs(true, {}, {file_at("/usr/bin/curl")}));
}

TEST_F(SnapshotTest, AnAllowanceThatIsAnotherNameOfAnExcludedDirectoryIsDead) {
  if (::geteuid() != 0) GTEST_SKIP() << "it takes the superuser to mount";
  world_.tree.directory("/o/bin");
  world_.tree.directory("/w/y");
  world_.tree.directory("/w/z");
  world_.table(false, {world_.dir("/w/y"), world_.dir("/w/z")}, {world_.dir("/o/bin")});

  const bool mounted = in_private_mounts([&] {
    mount_bind(world_.tree.at("/o/bin"), world_.tree.at("/w/y"));

    const Snapshot snapshot = world_.snapshot();

    EXPECT_EQ(names(snapshot.rules().allow), std::vector<std::string>{"/w/z"});
    EXPECT_EQ(snapshot.counts().dead, 1u);
  });
  if (!mounted) LOOM_SKIP_UNLESS_PROMISED("this machine mounts nothing");
}

}  // namespace
}  // namespace loom::guard
