#include "app/self_test/adversary.h"

#include <gmock/gmock.h>

#include "tests/unit/self_test/probe_evidence.h"

namespace loom::app {
namespace {

constexpr const char* kEverything =
    "hostile-loaded\ncontrol-read-ok\ncontrol-write-ok\nsecret-read-SUCCEEDED:s3cret\n"
    "outside-write-SUCCEEDED\nnet-CONNECTED\nhostile-done\n";
constexpr const char* kNothing =
    "hostile-loaded\ncontrol-read-ok\ncontrol-write-ok\nsecret-read-denied:enoent\n"
    "outside-write-denied:erofs\nnet-denied:eperm\nhostile-done\n";

AdversaryRun ran(std::string output) {
  AdversaryRun run;
  run.record = parse_adversary(output);
  run.output = std::move(output);
  return run;
}

AdversaryRun free_run() {
  AdversaryRun run = ran(kEverything);
  run.victim_exists = run.secret_shown = run.connected = true;
  return run;
}

AdversaryEvidence evidence(AdversaryRun confined) {
  return {.unjailed = free_run(), .permissive = free_run(), .confined = std::move(confined)};
}

std::string without(std::string text, std::string_view line) {
  const std::size_t at = text.find(line);
  return text.erase(at, text.find('\n', at) + 1 - at);
}

std::string with(std::string text, std::string_view line, std::string_view other) {
  return text.replace(text.find(line), line.size(), other);
}

TEST(AdversaryLinesTest, EveryLineIsReadByItself) {
  const AdversaryRecord all = parse_adversary(kEverything);
  const AdversaryRecord none = parse_adversary(kNothing);

  EXPECT_TRUE(all.loaded && all.done && all.does_what_is_allowed() && all.reaches_everything());
  EXPECT_TRUE(none.loaded && none.done && none.does_what_is_allowed() && none.reaches_nothing());
  EXPECT_FALSE(all.reaches_nothing());
  EXPECT_FALSE(none.reaches_everything());
}

TEST(AdversaryLinesTest, AnAttemptWithoutALineWasNeverMade) {
  const AdversaryRecord record = parse_adversary(without(kNothing, "net-denied"));

  EXPECT_EQ(record.network, Attempt::kNever);
  EXPECT_FALSE(record.reaches_nothing());
  EXPECT_EQ(parse_adversary(""), AdversaryRecord{});
}

TEST(AdversaryLinesTest, WordsInsideALineProveNothing) {
  EXPECT_EQ(parse_adversary("saying hostile-loaded\ncontrol-read-ok?\n net-denied:x\n"),
            AdversaryRecord{});
}

TEST(AdversaryLinesTest, OfTwoLinesTheWorseOneCounts) {
  const AdversaryRecord record = parse_adversary(
      "net-CONNECTED\nnet-denied:eperm\nsecret-read-denied:x\nsecret-read-SUCCEEDED:y\n"
      "control-read-BROKEN:eio\ncontrol-read-ok\n");

  EXPECT_EQ(record.network, Attempt::kSucceeded);
  EXPECT_EQ(record.secret_read, Attempt::kSucceeded);
  EXPECT_EQ(record.control_read, Attempt::kRefused);
}

TEST(AdversaryVerdictTest, WhatReachesNothingInAJailAndEverythingOutsideIsEnforced) {
  EXPECT_THAT(judge_adversary(evidence(ran(kNothing))), IsEnforced());
}

TEST(AdversaryVerdictTest, AControlThatDoesNotLoadOrReachesLessIsASkip) {
  AdversaryEvidence seen = evidence(ran(kNothing));
  seen.unjailed = ran("no such module\n");
  EXPECT_THAT(judge_adversary(seen), IsASkip("no such module"));

  for (const char* line : {"secret-read", "outside-write", "net-"}) {
    seen.unjailed = ran(without(kEverything, line));
    EXPECT_THAT(judge_adversary(seen), IsASkip("no evidence")) << line;
  }
}

TEST(AdversaryVerdictTest, AControlThatOnlySaysSoIsASkip) {
  for (bool AdversaryRun::*seen_by_the_host :
       {&AdversaryRun::victim_exists, &AdversaryRun::secret_shown, &AdversaryRun::connected}) {
    AdversaryEvidence seen = evidence(ran(kNothing));
    seen.unjailed.*seen_by_the_host = false;
    EXPECT_THAT(judge_adversary(seen), IsASkip("no evidence"));
  }
}

// cases.md 240
TEST(AdversaryVerdictTest, AJailThatDeniesWhatItGrantsProvesNothing) {
  AdversaryEvidence seen = evidence(ran(kNothing));
  seen.permissive = ran(kNothing);

  EXPECT_THAT(judge_adversary(seen), IsAFailure("a denial proves nothing"));
}

TEST(AdversaryVerdictTest, TheFirstRuleThatIsBrokenIsNamed) {
  const std::string quiet = kNothing;
  const std::vector<std::pair<std::string, const char*>> cases = {
      {"", "did not load"},
      {with(quiet, "control-read-ok", "control-read-BROKEN:eacces"), "an allowed effect failed"},
      {without(quiet, "control-write-ok"), "an allowed effect failed"},
      {with(quiet, "secret-read-denied:enoent", "secret-read-SUCCEEDED:x"), "the secret came out"},
      {with(quiet, "outside-write-denied:erofs", "outside-write-SUCCEEDED"), "the write outside"},
      {with(quiet, "net-denied:eperm", "net-CONNECTED"), "the connection succeeded"},
      {without(quiet, "hostile-done"), "not done"},
      {without(quiet, "secret-read-denied"), "never made"},
      {without(quiet, "outside-write-denied"), "never made"},
      {without(quiet, "net-denied"), "never made"},
  };
  for (const auto& [output, detail] : cases) {
    EXPECT_THAT(judge_adversary(evidence(ran(output))), IsAFailure(detail)) << output;
  }
}

TEST(AdversaryVerdictTest, TheHostsOwnEyesOverruleEveryLine) {
  const std::vector<std::pair<bool AdversaryRun::*, const char*>> cases = {
      {&AdversaryRun::secret_shown, "the secret came out"},
      {&AdversaryRun::connected, "the connection succeeded"},
      {&AdversaryRun::victim_exists, "the victim exists"},
      {&AdversaryRun::secret_changed, "the secret's bytes changed"},
  };
  for (const auto& [seen_by_the_host, detail] : cases) {
    AdversaryRun run = ran(kNothing);
    run.*seen_by_the_host = true;
    EXPECT_THAT(judge_adversary(evidence(std::move(run))), IsAFailure(detail));
  }
}

TEST(AdversaryVerdictTest, DetailsQuoteNoMoreThanFourHundredBytes) {
  const ProbeVerdict verdict = judge_adversary(evidence(ran(std::string(5'000, 'x'))));

  EXPECT_LT(verdict.reason.size(), 500u);
}

}  // namespace
}  // namespace loom::app
