#include "app/self_test/report_text.h"

#include <gmock/gmock.h>

namespace loom::app {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(SelfTestReportTest, HeadingNamesTheFeaturesAndEndsWithAnEmptyLine) {
  EXPECT_EQ(render_heading({"rlimits", "bwrap"}),
            "loom-exec self-test\n  features: rlimits, bwrap\n\n");
}

TEST(SelfTestReportTest, NamesBeginInColumnThirteen) {
  EXPECT_EQ(render_verdict({"walls hold", enforced()}), "  ENFORCED  walls hold\n");
  EXPECT_EQ(render_verdict({"walls hold", skipped("no walls (here)")}),
            "  SKIPPED   walls hold (no walls (here))\n");
  EXPECT_EQ(render_verdict({"walls hold", failed("fell")}), "  FAILED    walls hold (fell)\n");
}

TEST(SelfTestReportTest, AReasonStaysOnItsLine) {
  EXPECT_EQ(render_verdict({"a", failed("x\nRESULT: OK")}), "  FAILED    a (x\\x0aRESULT: OK)\n");
}

TEST(SelfTestReportTest, SummaryListsWhatHeldAndWhatWasSkippedButNotWhatFailed) {
  EXPECT_EQ(render_summary({{"a", enforced()}, {"b", skipped("why")}, {"c", failed("how")}}, false),
            "\n==== enforcement summary ====\n"
            "enforced (1):\n"
            "  + a\n"
            "skipped (1) — not verified here\n"
            "  - b: why\n"
            "\n"
            "RESULT: FAIL (1 of 3 probes failed)\n");
}

TEST(SelfTestReportTest, SkipsAloneAreOkAndSaidNotToBePasses) {
  const std::vector<NamedVerdict> probes = {{"a", skipped("why")}};

  EXPECT_THAT(render_summary(probes, false), HasSubstr("\nRESULT: OK (skips come from"));
  EXPECT_EQ(exit_status(probes, false), 0);
}

TEST(SelfTestReportTest, OneFailureIsTheExitStatus) {
  EXPECT_EQ(exit_status({{"a", enforced()}, {"b", failed("how")}}, false), 1);
  EXPECT_EQ(exit_status({{"a", enforced()}}, false), 0);
}

TEST(SelfTestReportTest, WhatWasInterruptedIsNotOk) {
  const std::vector<NamedVerdict> probes = {{"a", enforced()}};

  EXPECT_THAT(render_summary(probes, true),
              AllOf(HasSubstr("RESULT: FAIL (interrupted after 1"), Not(HasSubstr("RESULT: OK"))));
  EXPECT_EQ(exit_status(probes, true), 1);
}

}  // namespace
}  // namespace loom::app
