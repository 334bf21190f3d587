#include "law/table.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>

#include "law_support.h"

namespace loom::law {
namespace {

constexpr FileIdentity kHome{.device = 1, .inode = 10};
constexpr FileIdentity kHidden{.device = 1, .inode = 11};

// guard 9.1: 1
TEST(TableTest, AnAllowedDirectoryAdmitsWhatIsInIt) {
  EXPECT_EQ(says(deny({{"+dir /x"}}), file("/x/t")), "for");
}

// guard 9.1: 2
TEST(TableTest, SilenceIsNoEvidence) {
  EXPECT_EQ(says(deny({}), file("/x/t")), "none");
  EXPECT_EQ(says(Table(), file("/x/t")), "none");
}

// guard 9.1: 16
TEST(TableTest, AnAllowanceReadsNamesAsStored) {
  const Table asked = deny({{"+dir /x"}, {"+file /y/caf\u00E9"}});

  EXPECT_EQ(says(asked, file("/y/caf\u00E9")), "for");
  EXPECT_EQ(says(asked, file("/y/cafe\u0301")), "none");
  EXPECT_EQ(says(asked, file("/X/t")), "none");
}

// guard 9.1: 17
TEST(TableTest, ADirectoryHoldsWhatIsInsideAndNeitherItselfNorALongerName) {
  const Table allowed = deny({{"+dir /x/bin"}});
  const Table excluded = deny({{"-dir /x/bin"}});
  for (const auto& [asked, word] : {std::pair(&allowed, "for"), std::pair(&excluded, "against")}) {
    EXPECT_EQ(says(*asked, file("/x/binx/t")), "none");
    EXPECT_EQ(says(*asked, file("/x/bin")), "none");
    EXPECT_EQ(says(*asked, file("/x/bin/a/b")), word);
    EXPECT_EQ(says(*asked, inside("/x/bin")), word);
    EXPECT_EQ(says(*asked, inside("/x/bin/a")), word);
    EXPECT_EQ(says(*asked, inside("/x")), "none");
  }
}

TEST(TableTest, AFileHoldsItselfAndNoDirectoryOfTheName) {
  const Table allowed = deny({{"+file /x/t"}});
  const Table excluded = deny({{"-file /x/t"}});

  EXPECT_EQ(says(allowed, file("/x/t")), "for");
  EXPECT_EQ(says(excluded, file("/x/T")), "against");
  EXPECT_EQ(says(allowed, inside("/x/t")), "none");
  EXPECT_EQ(says(excluded, inside("/x/t")), "none");
  EXPECT_EQ(says(excluded, file("/x/t/u")), "none");
}

// guard 9.1: 18
TEST(TableTest, AnExcludedNameThatIsNotUtf8HoldsTheSameBytesOnly) {
  const Table asked = deny({{"+dir /x"}, {"-file /x/\xFF"}, {"-name \xFF\x41"}});

  EXPECT_EQ(says(asked, file("/x/\xFF")), "both");
  EXPECT_EQ(says(asked, file("/x/\xFE")), "for");
  EXPECT_EQ(says(asked, file("/x/\xFF\x41")), "both");
  EXPECT_EQ(says(asked, file("/x/\xFF\x61")), "for");
}

TEST(TableTest, ABareNameExcludesItselfAndWhateverTheSearchPathFound) {
  const Origin origin{.kind = Scope::kName, .written = "sh"};
  const Table asked =
      make_table(Default::kAllow, {}, exclude_name("sh", {{.real = path("/x/dash")}}, origin));

  EXPECT_EQ(says(asked, file("/opt/SH")), "both");
  EXPECT_EQ(says(asked, file("/x/dash")), "both");
  EXPECT_EQ(says(asked, file("/y/dash")), "for");
  EXPECT_EQ(says(asked, inside("/opt/sh")), "for");
}

TEST(TableTest, AnExclusionOfTheOtherKindHoldsTheNameForBoth) {
  const Table asked = make_table(
      Default::kAllow, {}, exclude_both_kinds({.real = path("/x/y")}, {.kind = Scope::kFile}));

  EXPECT_EQ(says(asked, file("/x/Y")), "both");
  EXPECT_EQ(says(asked, file("/x/Y/t")), "both");
  EXPECT_EQ(says(asked, inside("/x/y")), "both");
  EXPECT_EQ(says(asked, file("/x/z")), "for");
}

TEST(TableTest, AnExcludedDirectoryHoldsUnderEveryNameItHas) {
  const Table asked = allow({{"-dir /home/hidden", {path("/"), kHidden, kHome, {kHome}}}});

  EXPECT_EQ(says(asked, file("/alias/t", {.passed = {kHome, kHidden}, .parent = kHidden})), "both");
  EXPECT_EQ(says(asked, inside("/alias", {.directory = kHidden})), "both");
  // Passed through and left again by "..": refused too.
  EXPECT_EQ(says(asked, file("/other/t", {.passed = {kHidden, kHome}, .parent = kHome})), "both");
  EXPECT_EQ(says(asked, file("/other/t", {.passed = {kHome}, .parent = kHome})), "for");
}

TEST(TableTest, AnExcludedFileHoldsUnderEveryNameOfItsDirectoryButNotThroughAHardLink) {
  const Table asked = allow({{"-file /home/Tool", {path("/"), {}, kHome, {kHome}}}});

  EXPECT_EQ(says(asked, file("/alias/tool", {.passed = {kHome}, .parent = kHome})), "both");
  EXPECT_EQ(says(asked, file("/alias/tool2", {.passed = {kHome}, .parent = kHome})), "for");
  EXPECT_EQ(says(asked, file("/alias/tool", {.passed = {kHidden}, .parent = kHidden})), "for");
}

TEST(TableTest, AnAllowanceIsNeverExtendedByAnIdentity) {
  const Table asked = deny({{"+dir /home"}});

  EXPECT_EQ(says(asked, file("/alias/t", {.passed = {kHome}, .parent = kHome})), "none");
}

// guard 9.1: 9
TEST(RestrictTest, WhatOneLayerIsSilentAboutIsRefusedBySilenceAndNoExclusionIsInvented) {
  const Table both = restrict(deny({{"+dir /a/B"}}), deny({{"+dir /a/B"}, {"+dir /a/b"}}, 1));

  EXPECT_EQ(says(both, file("/a/B/x")), "for");
  EXPECT_EQ(says(both, file("/a/b/x")), "none");
  EXPECT_TRUE(both.exclusions().empty());
}

// guard 9.1: 10
TEST(RestrictTest, AnExclusionOfOneLayerFoldsOverTheAllowanceOfTheOther) {
  const Table both =
      restrict(deny({{"+dir /a"}, {"-dir /a/B"}}), deny({{"+dir /a/b"}, {"+dir /a/c"}}, 1));

  EXPECT_EQ(says(both, file("/a/b/x")), "both");
  EXPECT_EQ(says(both, file("/a/c/x")), "for");
}

// guard 9.1: 11
TEST(RestrictTest, TwoSpellingsAllowedByOneLayerEachMeetInNothing) {
  const Table both = restrict(deny({{"+dir /a/B"}}), deny({{"+dir /a/b"}}, 1));

  EXPECT_EQ(says(both, file("/a/B/x")), "none");
  EXPECT_EQ(says(both, file("/a/b/x")), "none");
}

// guard 9.1: 13
TEST(RestrictTest, TheInnerOfTwoAllowancesIsLeft) {
  const Table both = restrict(deny({{"+dir /u/bin"}}), deny({{"+file /u/bin/git"}}, 1));

  EXPECT_EQ(says(both, file("/u/bin/git")), "for");
  EXPECT_EQ(says(both, file("/u/bin/ls")), "none");
}

// guard 9.1: 14
TEST(ExtendTest, AnOverlayReopensNothing) {
  const Table both = extend(deny({{"+dir /u"}, {"-name bash"}}), deny({{"+file /u/bash"}}, 1));

  EXPECT_EQ(says(both, file("/u/bash")), "both");
  EXPECT_EQ(says(both, file("/u/zsh")), "for");
}

// guard 9.1: 19
TEST(RestrictTest, NoOpinionChangesNothingAndATableOnceMoreIsTheTable) {
  const Table some = deny({{"+dir /x"}, {"+file /y/t"}, {"-name sh"}, {"-dir /x/y"}});

  EXPECT_EQ(restrict(some, some), some);
  EXPECT_EQ(restrict(Table::no_opinion(), some), some);
  EXPECT_EQ(restrict(some, Table::no_opinion()), some);
  EXPECT_EQ(extend(Table(), some), some);
  EXPECT_EQ(extend(some, Table()), some);
}

TEST(RestrictTest, ABaseTableIsACeiling) {
  const std::array layers = {deny({{"+dir /x"}}), allow({}, 1)};

  EXPECT_EQ(says(in_force(layers), file("/x/t")), "for");
  EXPECT_EQ(says(in_force(layers), file("/y/t")), "none");
  EXPECT_EQ(in_force({}), Table::no_opinion());
}

TEST(DefaultsTest, EachMeansWhatItSays) {
  EXPECT_EQ(says(Table::no_opinion(), file("/x/t")), "for");
  EXPECT_EQ(says(Table::no_opinion(), inside("/")), "for");
  EXPECT_EQ(says(allow({}), file("/x/t")), "for");
  EXPECT_EQ(says(allow({{"-dir /x"}}), file("/x/t")), "both");
  EXPECT_EQ(says(allow({{"-dir /x"}}), file("/y/t")), "for");
  EXPECT_EQ(says(deny({}), inside("/")), "none");
}

TEST(RestrictiveTest, PresenceAloneEngagesNothing) {
  EXPECT_FALSE(Table::no_opinion().is_restrictive());
  EXPECT_FALSE(allow({}).is_restrictive());
  EXPECT_FALSE(allow({{"+dir /x"}}).is_restrictive());
  EXPECT_TRUE(allow({{"-name sh"}}).is_restrictive());
  EXPECT_TRUE(deny({}).is_restrictive());
  EXPECT_TRUE(deny({{"+dir /x"}}).is_restrictive());
  EXPECT_TRUE(deny({{"+file /x"}}).is_restrictive());
}

TEST(RestrictiveTest, AnUnrestrictiveLayerTurnsNothingOff) {
  EXPECT_TRUE(restrict(allow({}), deny({{"+dir /x"}}, 1)).is_restrictive());
  EXPECT_TRUE(restrict(allow({{"-name sh"}}), allow({}, 1)).is_restrictive());
  EXPECT_FALSE(restrict(allow({}), Table::no_opinion()).is_restrictive());
}

// A written path can be a link to the root.
TEST(RestrictiveTest, TheRootAsADirectoryIsAsWideAsAnything) {
  const Table root = deny({{"+dir /"}});

  EXPECT_FALSE(root.is_restrictive());
  EXPECT_EQ(says(root, file("/t")), "for");
  EXPECT_FALSE(restrict(root, allow({}, 1)).is_restrictive());
}

}  // namespace
}  // namespace loom::law
