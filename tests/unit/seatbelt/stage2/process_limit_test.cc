#include "backends/seatbelt/stage2/process_limit.h"

#include <gtest/gtest.h>

namespace loom::seatbelt {
namespace {

TEST(ProcessLimit, ALimitLeavesRoomForSixteen) {
  EXPECT_TRUE(leaves_room(416, 400));
  EXPECT_TRUE(leaves_room(1'000, 400));
  EXPECT_FALSE(leaves_room(415, 400));
  EXPECT_FALSE(leaves_room(401, 400));
  EXPECT_FALSE(leaves_room(400, 400));
  EXPECT_FALSE(leaves_room(399, 400));
  EXPECT_FALSE(leaves_room(1, UINT64_MAX));
  EXPECT_TRUE(leaves_room(UINT64_MAX, 0));
}

// guard 9.8: 159
TEST(ProcessLimit, TheBrakeIsCountPlusBudget) {
  EXPECT_EQ(brake_limit({.count = 400, .budget = 512, .ceiling = 2'666, .inherited_hard = 4'000}),
            912U);
}

// guard 9.8: 159
TEST(ProcessLimit, TheBrakeStaysBelowTheSystemsCeiling) {
  EXPECT_EQ(brake_limit({.count = 2'154, .budget = 512, .ceiling = 2'666, .inherited_hard = 4'000}),
            2'666U);
  EXPECT_EQ(brake_limit({.count = 2'155, .budget = 512, .ceiling = 2'666, .inherited_hard = 4'000}),
            2'666U);
}

TEST(ProcessLimit, TheBrakeStaysBelowTheInheritedLimit) {
  EXPECT_EQ(brake_limit({.count = 400, .budget = 512, .ceiling = 2'666, .inherited_hard = 800}),
            800U);
}

TEST(ProcessLimit, AnEnormousBudgetDoesNotWrap) {
  EXPECT_EQ(
      brake_limit(
          {.count = 400, .budget = UINT64_MAX, .ceiling = 2'666, .inherited_hard = UINT64_MAX}),
      2'666U);
}

}  // namespace
}  // namespace loom::seatbelt
