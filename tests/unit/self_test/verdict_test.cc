#include "app/self_test/verdict.h"

#include <gmock/gmock.h>

namespace loom::app {
namespace {

using ::testing::ElementsAre;

TEST(VerdictTextTest, QuotedOutputIsOneLineOfAtMostFourHundredBytes) {
  EXPECT_EQ(quote_output("one\ntwo\n"), "\"one | two\"");
  EXPECT_EQ(quote_output(""), "\"\"");
  EXPECT_EQ(quote_output(std::string(3'000, 'x')).size(), kMaxQuotedBytes + 2);
  EXPECT_EQ(quote_output(std::string("a\0b\x1b", 4)), "\"a\\x00b\\x1b\"");
}

TEST(VerdictTextTest, ALineIsFoundOnlyWhole) {
  EXPECT_TRUE(has_line("a\nWROTE\nb", "WROTE"));
  EXPECT_FALSE(has_line("WROTE it\n", "WROTE"));
  EXPECT_FALSE(has_line("", "WROTE"));
}

TEST(VerdictTextTest, LinesComeWithoutTheirEnds) {
  EXPECT_THAT(lines_of("a\n\nb"), ElementsAre("a", "", "b"));
}

TEST(VerdictTextTest, ANumberFollowsItsWordAndNothingElseDoes) {
  EXPECT_EQ(number_after("x\norphan-started 17\n", "orphan-started"), 17u);
  EXPECT_EQ(number_after("beats   3\n", "beats"), 3u);
  for (const char* text : {"", "beats\n", "beats \n", "beats x\n", "beats -1\n", "beats 3 4\n",
                           "beatsy 3\n", "beats3\n", "beats 99999999999999999999999\n"}) {
    EXPECT_EQ(number_after(text, "beats"), 0u) << text;
  }
}

}  // namespace
}  // namespace loom::app
