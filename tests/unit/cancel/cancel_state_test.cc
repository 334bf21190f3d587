#include "cancel/cancel_state.h"

#include <gtest/gtest.h>

namespace loom {
namespace {

using namespace std::chrono_literals;

constexpr Instant kStart{};

TEST(CancelStateTest, NothingIsDueBeforeSomebodyAsks) {
  CancelState cancel;

  EXPECT_EQ(cancel.due(kStart + 1h), std::nullopt);
  EXPECT_EQ(cancel.next_deadline(), std::nullopt);
  EXPECT_FALSE(cancel.cancelled());
}

// cases.md 180
TEST(CancelStateTest, TermIsDueAtOnceAndOnlyOnce) {
  CancelState cancel;
  cancel.request(kStart);

  EXPECT_EQ(cancel.next_deadline(), kStart);
  EXPECT_EQ(cancel.due(kStart), StopRung::kTerm);
  EXPECT_EQ(cancel.due(kStart), std::nullopt);
  EXPECT_TRUE(cancel.cancelled());
  EXPECT_FALSE(cancel.timed_out());
}

// cases.md 182
TEST(CancelStateTest, KillFollowsAfterTheGraceAndOnlyOnce) {
  CancelState cancel;
  cancel.request(kStart);
  EXPECT_EQ(cancel.due(kStart), StopRung::kTerm);

  EXPECT_EQ(cancel.next_deadline(), kStart + 2s);
  EXPECT_EQ(cancel.due(kStart + 1999ms), std::nullopt);
  EXPECT_EQ(cancel.due(kStart + 2s), StopRung::kKill);
  EXPECT_EQ(cancel.due(kStart + 1h), std::nullopt);
  EXPECT_EQ(cancel.next_deadline(), std::nullopt);
}

// cases.md 182
TEST(CancelStateTest, AskingAgainDoesNotRestartGrace) {
  CancelState cancel;
  cancel.request(kStart);
  EXPECT_EQ(cancel.due(kStart), StopRung::kTerm);

  cancel.request(kStart + 1900ms);

  EXPECT_EQ(cancel.next_deadline(), kStart + 2s);
  EXPECT_EQ(cancel.due(kStart + 1900ms), std::nullopt);
}

TEST(CancelStateTest, ALateLoopStillSaysTermBeforeKill) {
  CancelState cancel;
  cancel.request(kStart);

  EXPECT_EQ(cancel.due(kStart + 10s), StopRung::kTerm);
  EXPECT_EQ(cancel.due(kStart + 10s), StopRung::kKill);
}

// cases.md 183
TEST(CancelStateTest, TheWallClockClimbsTheSameLadderAndIsRemembered) {
  CancelState cancel;
  cancel.expire(kStart);

  EXPECT_EQ(cancel.due(kStart), StopRung::kTerm);
  EXPECT_EQ(cancel.due(kStart + 2s), StopRung::kKill);
  EXPECT_TRUE(cancel.cancelled());
  EXPECT_TRUE(cancel.timed_out());
}

TEST(CancelStateTest, AnExpiryAfterACancelIsStillACancel) {
  CancelState cancel;
  cancel.request(kStart);
  cancel.expire(kStart + 1s);

  EXPECT_FALSE(cancel.timed_out());
  EXPECT_EQ(cancel.due(kStart + 1s), StopRung::kTerm);
  EXPECT_EQ(cancel.next_deadline(), kStart + 2s);
}

TEST(CancelStateTest, ACancelAfterAnExpiryDoesNotHideTheTimeout) {
  CancelState cancel;
  cancel.expire(kStart);
  cancel.request(kStart + 1s);

  EXPECT_TRUE(cancel.timed_out());
}

// cases.md 186
TEST(CancelStateTest, ThatARunWasCancelledOutlivesItsEnd) {
  CancelState cancel;
  cancel.request(kStart);
  EXPECT_EQ(cancel.due(kStart), StopRung::kTerm);

  cancel.end();

  EXPECT_TRUE(cancel.cancelled());
  EXPECT_EQ(cancel.due(kStart + 1h), std::nullopt);
  EXPECT_EQ(cancel.next_deadline(), std::nullopt);
}

// cases.md 187, 194
TEST(CancelStateTest, ACancelAfterTheEndIsNoCancel) {
  CancelState cancel;
  cancel.end();
  cancel.request(kStart);
  cancel.expire(kStart);

  EXPECT_FALSE(cancel.cancelled());
  EXPECT_FALSE(cancel.timed_out());
  EXPECT_EQ(cancel.due(kStart + 1h), std::nullopt);
}

TEST(CancelStateTest, TheGraceIsTheCallers) {
  CancelState cancel(50ms);
  cancel.request(kStart);
  EXPECT_EQ(cancel.due(kStart), StopRung::kTerm);

  EXPECT_EQ(cancel.due(kStart + 49ms), std::nullopt);
  EXPECT_EQ(cancel.due(kStart + 50ms), StopRung::kKill);
}

}  // namespace
}  // namespace loom
