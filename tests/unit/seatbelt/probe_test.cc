#include "backends/seatbelt/probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "backends/seatbelt/machine.h"
#include "backends/seatbelt/platform.h"
#include "mac_fixture.h"

namespace loom::seatbelt::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Answers one trial.
class TrialHost final : public HostServices {
 public:
  explicit TrialHost(Result<TrialResult> answer) : answer_(std::move(answer)) {}

  void log(LogLevel, std::string_view) override {}
  Result<TrialResult> try_launch(const LaunchSpec& launch, std::uint32_t) override {
    tried.emplace(launch);
    return answer_;
  }
  Result<std::int32_t> spawn(const LaunchSpec&) override {
    return fail(ErrorCode::kBackend, "a probe starts nothing");
  }
  Result<ExecObject> next_exec_object() override { return ExecObject{}; }
  Result<std::vector<std::int32_t>> children(std::int32_t) override {
    return std::vector<std::int32_t>();
  }

  std::optional<LaunchSpec> tried;

 private:
  Result<TrialResult> answer_;
};

Result<MachineFacts> probed(TrialHost& host, const Mac& mac = Mac()) {
  LOOM_TRY(const Bytes bytes,
           probe({.phase = ProbePhase::kBeforePlan, .facts = mac.bare_facts()}, host));
  return decode_machine_facts(bytes);
}

TEST(SeatbeltProbeTest, ATrialThatSucceedsChangesNothing) {
  TrialHost host(TrialResult{});
  const auto facts = probed(host);
  ASSERT_TRUE(facts.has_value());
  EXPECT_THAT(facts->already_profiled, IsEmpty());
  EXPECT_THAT(facts->user_directories, ElementsAre(kUserTemp, kUserCache));
  ASSERT_TRUE(host.tried.has_value());
  EXPECT_EQ(host.tried->image, ImageKind::kLauncher);
  EXPECT_EQ(host.tried->argv.at(0), kLauncher);
  EXPECT_EQ(host.tried->argv.back(), "/usr/bin/true");
}

// guard 9.8: 158
// field B92
TEST(SeatbeltProbeTest, ARefusedProfileMeansThatThereIsOneAlready) {
  TrialHost host(
      TrialResult{.code = 71, .output = "sandbox-exec: sandbox_apply: Operation not permitted\n"});
  const auto facts = probed(host);
  ASSERT_TRUE(facts.has_value());
  EXPECT_EQ(facts->already_profiled, "sandbox-exec: sandbox_apply: Operation not permitted");
}

TEST(SeatbeltProbeTest, TheLaunchersWordsAreBounded) {
  TrialHost host(TrialResult{.code = 71, .output = std::string(10'000, 'x') + "\x1b[31m"});
  const auto facts = probed(host);
  ASSERT_TRUE(facts.has_value());
  EXPECT_EQ(facts->already_profiled.size(), 256U);

  TrialHost silent(TrialResult{.code = 71});
  EXPECT_EQ(probed(silent)->already_profiled, "no words");
}

TEST(SeatbeltProbeTest, AnyOtherEndIsNoAnswer) {
  TrialHost failed(TrialResult{.code = 65, .output = "bad profile"});
  const auto refused = probed(failed);
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message,
              AllOf(HasSubstr(std::string(kLauncher)), HasSubstr("65"), HasSubstr("bad profile")));

  TrialHost slow(TrialResult{.timed_out = true});
  EXPECT_FALSE(probed(slow).has_value());
  TrialHost unable(fail(ErrorCode::kSystem, "fork"));
  EXPECT_FALSE(probed(unable).has_value());
}

TEST(SeatbeltProbeTest, WithoutALauncherNothingIsTried) {
  TrialHost host(TrialResult{.code = 71});
  const auto facts = probed(host, Mac().without_launcher());
  ASSERT_TRUE(facts.has_value());
  EXPECT_THAT(facts->already_profiled, IsEmpty());
  EXPECT_FALSE(host.tried.has_value());
}

TEST(SeatbeltProbeTest, BeforeTheHelloNothingIsTried) {
  TrialHost host(TrialResult{.code = 71});
  const auto bytes = probe({.phase = ProbePhase::kBeforeHello, .facts = Mac().bare_facts()}, host);
  ASSERT_TRUE(bytes.has_value());
  EXPECT_TRUE(decode_machine_facts(*bytes).has_value());
  EXPECT_FALSE(host.tried.has_value());
}

}  // namespace
}  // namespace loom::seatbelt::test
