#include "conformance/results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "conformance/clause_words.h"
#include "conformance/options.h"

namespace loom::conformance {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr Check kCheck{.id = "theme.check", .contract = "A & B < C.", .judge = nullptr};

CheckResult result(std::vector<Finding> findings) {
  return {.check = &kCheck,
          .verdict = {.findings = std::move(findings), .remarks = {}},
          .took = std::chrono::milliseconds(5)};
}

Results results(std::vector<CheckResult> checks) {
  return {.kind = SubjectKind::kBackend,
          .file = "/b.so",
          .about = {{"name", "b"}},
          .checks = std::move(checks)};
}

const Finding kContract{.blame = Blame::kContract, .text = "a broken \"contract\""};
const Finding kClaim{.blame = Blame::kClaim, .text = "a claim"};
const Finding kUnjudged{.blame = Blame::kUnjudged, .text = "no helper"};

TEST(RecordTest, ProcessThatEndedInABackendIsNotDoneAndNamesTheStep) {
  const Record record = parse_record("Sbegin\nRremark\nBplan\n");

  EXPECT_FALSE(record.done);
  EXPECT_TRUE(record.in_backend);
  EXPECT_EQ(record.step, "plan");
  EXPECT_THAT(record.verdict.remarks, ::testing::ElementsAre("remark"));
}

TEST(RecordTest, ProcessThatEndedAfterACallIsNotTheBackendsFault) {
  const Record record = parse_record("Bplan\nSafter plan\n");

  EXPECT_FALSE(record.in_backend);
}

TEST(VerdictTest, ContractIsGraverThanClaimAndClaimThanUnjudged) {
  EXPECT_EQ(result({kUnjudged, kClaim, kContract}).verdict.blame(), Blame::kContract);
  EXPECT_EQ(result({kUnjudged, kClaim}).verdict.blame(), Blame::kClaim);
  EXPECT_EQ(result({kUnjudged}).verdict.blame(), Blame::kUnjudged);
}

TEST(ResultsTest, ExitStatusTellsConformingBrokenAndUnjudgedApart) {
  EXPECT_EQ(results({result({})}).exit_status(), kConforming);
  EXPECT_EQ(results({result({}), result({kUnjudged})}).exit_status(), kCouldNotJudge);
  EXPECT_EQ(results({result({kUnjudged}), result({kClaim})}).exit_status(), kNotConforming);
  EXPECT_EQ(results({result({kContract})}).exit_status(), kNotConforming);
}

TEST(ResultsTest, NothingJudgedIsNotConforming) {
  EXPECT_EQ(results({}).exit_status(), kCouldNotJudge);
}

TEST(JunitTest, WhatCouldNotBeJudgedIsAnErrorAndNoFailure) {
  const std::string unjudged = render_junit(results({result({kUnjudged})}));
  const std::string broken = render_junit(results({result({kContract})}));

  EXPECT_THAT(unjudged, HasSubstr("<error type=\"unjudged\""));
  EXPECT_THAT(unjudged, Not(HasSubstr("<failure")));
  EXPECT_THAT(broken, HasSubstr("<failure type=\"contract\""));
}

TEST(JunitTest, TextIsEscaped) {
  const std::string text = render_junit(results({result({kContract})}));

  EXPECT_THAT(text, HasSubstr("A &amp; B &lt; C."));
  EXPECT_THAT(text, HasSubstr("a broken &quot;contract&quot;"));
}

TEST(JsonTest, EveryFindingHasItsKind) {
  const std::string text = render_json(results({result({kContract, kClaim})}));

  EXPECT_THAT(text, HasSubstr("\"kind\": \"contract\""));
  EXPECT_THAT(text, HasSubstr("\"kind\": \"claim\""));
}

TEST(ClauseWordsTest, OnlyASkipOrAnUnheldNames) {
  EXPECT_EQ(entry_that_names({"mounts:protected=1"}, words::kProtected), "");
  EXPECT_EQ(entry_that_names({"skip:bwrap: not held: protected paths"}, words::kProtected),
            "skip:bwrap: not held: protected paths");
  EXPECT_EQ(entry_that_names({"skip:mounts: x /ws/.env y"}, {}, "/ws/.env"),
            "skip:mounts: x /ws/.env y");
}

TEST(ClauseWordsTest, TagEndsAtColonOrEqualSign) {
  EXPECT_EQ(applied_tag("landlock:abi=7"), "landlock");
  EXPECT_EQ(applied_tag("caps=none"), "caps");
  EXPECT_EQ(applied_tag("skip:landlock: none"), "");
  EXPECT_EQ(applied_tag("unheld:caps=bounding"), "");
}

TEST(CatalogueTest, IdsAreUniqueAndContractsAreSentences) {
  for (const SubjectKind kind : {SubjectKind::kBackend, SubjectKind::kHelper}) {
    std::vector<std::string_view> seen;
    for (const Check& check : checks_of(kind)) {
      EXPECT_THAT(seen, Not(::testing::Contains(check.id)));
      EXPECT_TRUE(check.contract.ends_with('.')) << check.id;
      seen.push_back(check.id);
    }
  }
}

ParsedOptions parsed(const std::vector<const char*>& words) {
  std::vector<const char*> argv = {"loom-conformance"};
  for (const char* word : words) argv.push_back(word);
  return parse_options(static_cast<int>(argv.size()), argv.data());
}

TEST(OptionsTest, ExactlyOneOfBackendAndHelperIsJudged) {
  EXPECT_EQ(parsed({}).exit_status, kUsage);
  EXPECT_EQ(parsed({"--backend=b", "--helper=/h"}).exit_status, kUsage);
  EXPECT_EQ(parsed({"--backend=b"}).exit_status, std::nullopt);
  EXPECT_EQ(kind_of(parsed({"--helper=/h"}).options), SubjectKind::kHelper);
}

TEST(OptionsTest, WordsForTheHelperAreKeptAsTheyAre) {
  const ParsedOptions words = parsed({"--helper=/h", "--helper-arg=--a b", "--helper-arg", "c,d"});

  EXPECT_THAT(words.options.helper_arguments, ::testing::ElementsAre("--a b", "c,d"));
  EXPECT_EQ(parsed({"--backend=b", "--helper-arg=c"}).exit_status, kUsage);
}

TEST(OptionsTest, ChecksAreThoseOfTheSubject) {
  EXPECT_EQ(parsed({"--helper=/h", "--only=hello"}).exit_status, std::nullopt);
  EXPECT_EQ(parsed({"--backend=b", "--only=hello"}).exit_status, kUsage);
}

TEST(JsonTest, SubjectIsNamedByItsKind) {
  Results helper = results({result({})});
  helper.kind = SubjectKind::kHelper;

  EXPECT_THAT(render_json(helper), HasSubstr("\"helper\": \"/b.so\""));
  EXPECT_THAT(render_json(results({})), HasSubstr("\"backend\": \"/b.so\""));
}

}  // namespace
}  // namespace loom::conformance
