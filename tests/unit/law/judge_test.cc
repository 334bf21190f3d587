#include "law/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <loom/utf8.h>

#include <array>
#include <string>
#include <string_view>

#include "law_support.h"

namespace loom::law {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr FileIdentity kShared{.device = 3, .inode = 30};

// guard 9.1: 1, 2, 6
TEST(JudgeTest, OnlyEvidenceForAdmits) {
  const Verdict admitted = judge(deny({{"+dir /x"}}), file("/x/t"));
  EXPECT_TRUE(admitted.admitted());
  EXPECT_EQ(written(admitted.rule), "dir /x");
  EXPECT_EQ(admitted.overridden, std::nullopt);

  const Verdict silent = judge(deny({}), file("/x/t"));
  EXPECT_EQ(refusal(silent), "not_allowed");
  EXPECT_EQ(silent.rule, std::nullopt);

  const Verdict against = judge(deny({{"-dir /x"}}), file("/x/t"));
  EXPECT_EQ(refusal(against), "excluded");
  EXPECT_EQ(written(against.rule), "dir /x");
  EXPECT_EQ(against.overridden, std::nullopt);
}

// guard 9.1: 3
TEST(JudgeTest, AContradictionNamesBothRules) {
  const Verdict verdict = judge(deny({{"+dir /x"}, {"-dir /x/y"}}), file("/x/y/t"));

  EXPECT_EQ(evidence_name(verdict.evidence), "both");
  EXPECT_EQ(refusal(verdict), "excluded_over_allowance");
  EXPECT_EQ(written(verdict.rule), "dir /x/y");
  EXPECT_EQ(written(verdict.overridden), "dir /x");
  EXPECT_EQ(verdict.others, 0U);
}

// guard 9.1: 4
TEST(JudgeTest, AnExactAllowanceDoesNotReopen) {
  const Verdict verdict =
      judge(deny({{"+dir /x"}, {"-dir /x/y"}, {"+file /x/y/t"}}), file("/x/y/t"));

  EXPECT_EQ(refusal(verdict), "excluded_over_allowance");
  EXPECT_EQ(written(verdict.overridden), "file /x/y/t");  // the deepest
}

// guard 9.1: 5
TEST(JudgeTest, ADeeperAllowanceDoesNotReopen) {
  EXPECT_EQ(refusal(judge(deny({{"-dir /x"}, {"+dir /x/y"}}), file("/x/y/t"))),
            "excluded_over_allowance");
}

// guard 9.1: 7
TEST(JudgeTest, AFileExcludedFromEverythingLeavesTheOthers) {
  const Table asked = allow({{"-file /usr/bin/curl"}});

  const Verdict curl = judge(asked, file("/usr/bin/curl"));
  EXPECT_EQ(refusal(curl), "excluded_over_allowance");
  EXPECT_EQ(curl.overridden->scope, Scope::kAny);
  EXPECT_EQ(curl.overridden->real, std::nullopt);
  EXPECT_TRUE(judge(asked, file("/usr/bin/wget")).admitted());
}

// guard 9.1: 8
TEST(JudgeTest, ANameIsReportedPlainlyUnderEverySpelling) {
  const Table asked = allow({{"-name sh"}});

  const Verdict verdict = judge(asked, file("/opt/SH"));
  EXPECT_EQ(refusal(verdict), "excluded_over_allowance");
  EXPECT_EQ(verdict.rule->match, Match::kStored);
  EXPECT_EQ(verdict.rule->real, std::nullopt);
  EXPECT_THAT(describe(verdict, file("/opt/SH")), Not(HasSubstr("spelling")));
  EXPECT_TRUE(judge(asked, file("/opt/shx")).admitted());
  EXPECT_FALSE(judge(allow({{"-name SH"}}), file("/opt/sh")).admitted());
}

// guard 9.1: 10
TEST(JudgeTest, AnotherSpellingIsReportedAsFolded) {
  const Table both =
      restrict(deny({{"+dir /a"}, {"-dir /a/B"}}), deny({{"+dir /a/b"}, {"+dir /a/c"}}, 1));

  const Verdict verdict = judge(both, file("/a/b/x"));
  EXPECT_EQ(verdict.rule->match, Match::kFolded);
  EXPECT_THAT(describe(verdict, file("/a/b/x")), HasSubstr("another spelling"));
  EXPECT_TRUE(judge(both, file("/a/c/x")).admitted());
}

// guard 9.1: 12
TEST(JudgeTest, TheLayerThatExcludesIsNamed) {
  const Table both = restrict(deny({{"+dir /a"}, {"-dir /a/b"}}), deny({{"+dir /a/b/c"}}, 1));

  const Verdict verdict = judge(both, file("/a/b/c/x"));
  EXPECT_EQ(refusal(verdict), "excluded_over_allowance");
  EXPECT_EQ(written(verdict.rule), "dir /a/b");
  EXPECT_EQ(verdict.rule->origin.layer, 0U);
  EXPECT_EQ(written(verdict.overridden), "dir /a/b/c");
  EXPECT_EQ(verdict.overridden->origin.layer, 1U);
}

// guard 9.1: 15
TEST(JudgeTest, AnExclusionHoldsUnderEverySpellingAndUnderNoOtherName) {
  const auto ask = [](const std::string& excluded, const std::string& asked) {
    const std::string entry = "-file /x/" + excluded;
    return judge(deny({{"+dir /x"}, {entry}}), file("/x/" + asked));
  };
  const auto same = std::to_array<std::pair<const char*, const char*>>({{"caf\u00E9", "cafe\u0301"},
                                                                        {"\u00DF", "ss"},
                                                                        {"\u017F", "s"},
                                                                        {"\u212A", "k"},
                                                                        {"\uFB01", "fi"},
                                                                        {"\u0131", "I"},
                                                                        {"\u00C5", "\u212B"}});
  for (const auto& [one, other] : same) {
    for (const Verdict& verdict : {ask(one, other), ask(other, one)}) {
      EXPECT_EQ(refusal(verdict), "excluded_over_allowance") << one;
      EXPECT_EQ(verdict.rule->match, Match::kFolded) << one;
    }
    EXPECT_EQ(ask(one, one).rule->match, Match::kStored) << one;
  }
  EXPECT_TRUE(ask("\uFF41", "a").admitted());
  EXPECT_TRUE(ask("a", "\uFF41").admitted());
  EXPECT_TRUE(ask("\u0130", "i").admitted());
  EXPECT_TRUE(ask("i", "\u0130").admitted());
}

TEST(JudgeTest, StoredComesBeforeFoldedBeforeObjectWhateverTheOrderOfWriting) {
  const Passage through{.passed = {kShared}, .parent = kShared};
  const Table asked = deny({{"-dir /o", {path("/"), kShared, {}, {}}}, {"-dir /A"}, {"-dir /a/b"}});

  const Verdict all = judge(asked, file("/a/b/t", through));
  EXPECT_EQ(written(all.rule), "dir /a/b");
  EXPECT_EQ(all.others, 2U);
  const Verdict two = judge(asked, file("/a/c/t", through));
  EXPECT_EQ(written(two.rule), "dir /A");
  EXPECT_EQ(two.rule->match, Match::kFolded);
  const Verdict one = judge(asked, file("/c/t", through));
  EXPECT_EQ(written(one.rule), "dir /o");
  EXPECT_EQ(one.rule->match, Match::kObject);
  EXPECT_THAT(describe(one, file("/c/t")), HasSubstr("same object"));
}

TEST(JudgeTest, OfEqualMatchesTheLowerLayerThenTheLowerIndexIsNamed) {
  const Table upper = deny({{"-dir /a"}, {"-dir /b"}}, 1);
  const Table lower = deny({{"-name x"}, {"-dir /a/b"}, {"-dir /a"}});

  const Verdict verdict = judge(restrict(upper, lower), file("/a/b/t"));
  EXPECT_EQ(written(verdict.rule), "dir /a/b");
  EXPECT_EQ(verdict.rule->origin.layer, 0U);
  EXPECT_EQ(verdict.others, 2U);
}

TEST(JudgeTest, OneEntryThatHoldsThroughSeveralRulesCountsOnce) {
  const Origin origin{.kind = Scope::kName, .written = "sh"};
  const Table asked =
      make_table(Default::kAllow, {}, exclude_name("sh", {{.real = path("/x/sh")}}, origin));

  EXPECT_EQ(judge(asked, file("/x/sh")).others, 0U);
}

TEST(JudgeTest, ADefaultThatNobodyWroteIsNamedLast) {
  const Table both = restrict(Table::no_opinion(), allow({{"-file /x/t"}}, 1));

  EXPECT_EQ(judge(both, file("/x/t")).overridden->origin.layer, 1U);
  EXPECT_EQ(judge(Table::no_opinion(), file("/x/t")).rule->origin.layer, Origin::kNobody);
}

TEST(DescribeTest, AContradictionSaysThatAnAllowanceCannotOverrideAnExclusionAndNamesBoth) {
  const Subject asked = file("/x/y/t");
  const std::string text = describe(judge(deny({{"+dir /x"}, {"-dir /x/y"}}), asked), asked);

  EXPECT_THAT(text, HasSubstr("\"/x/y/t\""));
  EXPECT_THAT(text, HasSubstr("dir \"/x/y\" (exec.deny[0] of layer 0)"));
  EXPECT_THAT(text, HasSubstr("an allowance cannot override an exclusion"));
  EXPECT_THAT(text, HasSubstr("dir \"/x\" (exec.allow[0] of layer 0)"));
}

TEST(DescribeTest, EachVerdictIsOneSentence) {
  const auto ask = [](const Table& asked, std::string_view about) {
    return describe(judge(asked, file(about)), file(about));
  };

  EXPECT_EQ(ask(deny({}), "/x/t"), "running \"/x/t\" is refused: no rule allows it");
  EXPECT_EQ(ask(deny({{"+dir /x"}}), "/x/t"),
            "running \"/x/t\" is allowed by dir \"/x\" (exec.allow[0] of layer 0)");
  EXPECT_EQ(ask(allow({}), "/x/t"), "running \"/x/t\" is allowed by the default of layer 0");
  EXPECT_EQ(ask(Table::no_opinion(), "/x/t"),
            "running \"/x/t\" is allowed by the default where there is no table");
  EXPECT_EQ(ask(deny({{"-name sh"}}), "/x/SH"),
            "running \"/x/SH\" is refused: excluded by name \"sh\" (exec.deny[0] of layer 0)");
}

TEST(DescribeTest, WhatAnEntryLedToIsSaid) {
  const Allowance led =
      Allowance::directory(path("/opt/x/bin"), {.kind = Scope::kDirectory, .written = "/h/bin"});
  const Subject asked = file("/opt/x/bin/t");

  EXPECT_THAT(describe(judge(Table({led}, {}), asked), asked),
              HasSubstr("dir \"/h/bin\" (exec.allow[0] of layer 0, really \"/opt/x/bin\")"));
}

TEST(DescribeTest, TheSentenceIsUtf8WhateverThePathHolds) {
  const Subject asked = file("/x/\xFF\n");

  const std::string text = describe(judge(deny({{"-file /x/\xFF\n"}}), asked), asked);

  EXPECT_TRUE(is_utf8(text));
  EXPECT_THAT(text, Not(HasSubstr("\n")));
}

}  // namespace
}  // namespace loom::law
