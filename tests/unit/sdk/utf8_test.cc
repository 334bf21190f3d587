#include <gtest/gtest.h>
#include <loom/utf8.h>

namespace loom {
namespace {

TEST(Utf8Test, OnlyTheShortestFormOfAScalarValueIsValid) {
  for (const std::string_view valid :
       {"", "a", "\x7F", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
        "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(is_utf8(valid)) << escaped(valid);
  }
  for (const std::string_view invalid :
       {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xC2", "\xC2\x41", "\xE0\x80\x80", "\xE0\x9F\xBF",
        "\xED\xA0\x80", "\xED\xBF\xBF", "\xE2\x82", "\xF0\x80\x80\x80", "\xF0\x8F\xBF\xBF",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "a\xFE"}) {
    EXPECT_FALSE(is_utf8(invalid)) << escaped(invalid);
  }
}

TEST(Utf8Test, EachBadByteBecomesOneReplacementAndNothingElseChanges) {
  EXPECT_EQ(Utf8::sanitise("h\xC3\xA9llo\n").str(), "h\xC3\xA9llo\n");
  EXPECT_EQ(Utf8::sanitise("a\xFF"
                           "b")
                .str(),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(Utf8::sanitise("\xE2\x82").str(), "\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(Utf8Test, SanitisingIsIdempotent) {
  const Utf8 once = Utf8::sanitise("\xF0\x9F\xFFx\xED\xA0\x80");

  EXPECT_TRUE(is_utf8(once.str()));
  EXPECT_EQ(Utf8::sanitise(once.str()), once);
}

TEST(EscapedTest, WhatATerminalMightObeyIsSpelledOut) {
  EXPECT_EQ(escaped("plain h\xC3\xA9"), "plain h\xC3\xA9");
  EXPECT_EQ(escaped("\x1B[2J\n\t\x7F"), "\\x1b[2J\\x0a\\x09\\x7f");
  EXPECT_EQ(escaped("\xC2\x9B"), "\\xc2\\x9b");
  EXPECT_EQ(escaped("say \"x\\y\""), "say \\x22x\\x5cy\\x22");
  EXPECT_EQ(escaped("\xFF"), "\\xff");
}

TEST(EscapedTest, NothingIsLongerThanItsCeilingAndNoSequenceIsCutInTwo) {
  for (std::size_t ceiling = 0; ceiling < 30; ++ceiling) {
    for (const std::string_view text : {"\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9",
                                        "\xFF\xFF\xFF\xFF", "short"}) {
      const std::string out = escaped(text, ceiling);
      EXPECT_LE(out.size(), ceiling);
      EXPECT_TRUE(is_utf8(out));
    }
  }
  EXPECT_EQ(escaped("abcdef", 6), "abcdef");
  EXPECT_EQ(escaped("abcdefg", 6), "abc\xE2\x80\xA6");
}

TEST(PrintableTest, ASentenceKeepsItsQuotesAndLosesItsControls) {
  EXPECT_EQ(printable("mount \"/a\\x0a\"\n"), "mount \"/a\\x0a\"\\x0a");
}

}  // namespace
}  // namespace loom
