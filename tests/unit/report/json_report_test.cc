#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/human_report.h"

namespace loom {
namespace {

using testing::ElementsAre;

ExecResult sample() {
  ExecResult result;
  result.code = 137;
  result.signal = 9;
  result.stdout_bytes = ~0ULL;
  result.stderr_bytes = 2;
  result.stderr_truncated = true;
  result.enforcement = {"bwrap", "skip:mounts: /\xff\n\"x\""};
  result.degraded = true;
  result.wall = std::chrono::milliseconds(12);
  result.cancelled = true;
  result.outcome = Outcome{.outcome = OutcomeClass::kCancelled,
                           .detail = "stopped \xc3",
                           .first_cause = "",
                           .shell_status = 137};
  return result;
}

TEST(JsonReportTest, TheKeysAreTheWiresInTheWiresOrder) {
  const auto json = nlohmann::ordered_json::parse(render_json_report(sample()));

  std::vector<std::string> keys;
  for (const auto& item : json.items()) keys.push_back(item.key());
  EXPECT_THAT(keys, ElementsAre("code", "signal", "stdout_bytes", "stderr_bytes",
                                "stdout_truncated", "stderr_truncated", "enforcement", "degraded",
                                "wall_ms", "timed_out", "cancelled", "outcome"));
}

TEST(JsonReportTest, TheValuesAreTheResults) {
  const auto json = nlohmann::json::parse(render_json_report(sample()));

  EXPECT_EQ(json["code"], 137);
  EXPECT_EQ(json["stdout_bytes"], ~0ULL);
  EXPECT_EQ(json["stderr_truncated"], true);
  EXPECT_EQ(json["stdout_truncated"], false);
  EXPECT_EQ(json["wall_ms"], 12);
  EXPECT_EQ(json["outcome"]["class"], "cancelled");
  EXPECT_EQ(json["enforcement"].size(), 2U);
  EXPECT_EQ(json["enforcement"][1], "skip:mounts: /\xef\xbf\xbd\n\"x\"");
}

TEST(JsonReportTest, ARefusalsRecordIsOneKeyMore) {
  const Denial denial{
      .op = "launch", .asked = "x", .reason = "pin_changed", .text = "pin_changed: x"};

  const auto json = nlohmann::json::parse(render_json_report(sample(), &denial));

  EXPECT_EQ(json["denial"]["reason"], "pin_changed");
  EXPECT_EQ(json["code"], 137);
  EXPECT_FALSE(nlohmann::json::parse(render_json_report(sample())).contains("denial"));
}

TEST(JsonReportTest, AReportIsOneLine) {
  const std::string report = render_json_report(sample());

  EXPECT_EQ(report.find('\n'), report.size() - 1);
}

TEST(JsonReportTest, AnEmptyReportIsAnEmptyArrayNotNull) {
  EXPECT_TRUE(nlohmann::json::parse(render_json_report(ExecResult{}))["enforcement"].is_array());
}

}  // namespace
}  // namespace loom
