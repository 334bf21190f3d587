#include "identity/decode_entries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace loom {
namespace {

using R = IdentityRefusal;

GitIdentity decoded(std::string_view json) {
  const auto identity = decode_entries(json);
  EXPECT_TRUE(identity) << json << ": " << refusal_text(identity.error());
  return identity ? *identity : GitIdentity{};
}

testing::AssertionResult is_refused(std::string_view json, R reason) {
  const auto identity = decode_entries(json);
  if (identity) return testing::AssertionFailure() << "accepted: " << json.substr(0, 80);
  if (identity.error() == reason) return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << json.substr(0, 80) << ": " << refusal_text(identity.error());
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

TEST(DecodeEntriesTest, BothKeysArriveWhateverTheirOrder) {
  const GitIdentity both{.name = "A B", .email = "a@b"};

  EXPECT_EQ(decoded(R"([["user.name","A B"],["user.email","a@b"]])"), both);
  EXPECT_EQ(decoded(R"([["user.email","a@b"],["user.name","A B"]])"), both);
}

TEST(DecodeEntriesTest, AKeyThatNoEntryNamesIsAbsentAndAnEmptyValueIsNot) {
  EXPECT_EQ(decoded(R"([["user.name",""]])"), (GitIdentity{.name = "", .email = std::nullopt}));
}

// cases.md 229
TEST(DecodeEntriesTest, AnEmptyArrayIsAnIdentityWithoutNameAndEmail) {
  EXPECT_EQ(decoded("[]"), GitIdentity{});
  EXPECT_EQ(decoded(" \t\r\n[ ]\n"), GitIdentity{});
}

// cases.md 221
TEST(DecodeEntriesTest, TheLastValueOfAKeyWins) {
  EXPECT_EQ(decoded(R"([["user.name","one"],["user.email","x"],["user.name","two"]])"),
            (GitIdentity{.name = "two", .email = "x"}));
}

TEST(DecodeEntriesTest, EscapesOfJsonAreResolved) {
  EXPECT_EQ(decoded(R"([["user.name","\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00"]])").name,
            "\"\\/\b\f\n\r\t\xC3\xA9\xF0\x9F\x98\x80");
  EXPECT_EQ(decoded(R"([["user.\u006eame","x"]])").name, "x");
}

// cases.md 229
TEST(DecodeEntriesTest, WhateverIsNotAnArrayOfPairsOfStringsIsRefused) {
  for (const std::string_view json : {"",
                                      " ",
                                      "null",
                                      "{}",
                                      "\"\"",
                                      "1",
                                      "true",
                                      "[[]]",
                                      R"([["user.name"]])",
                                      R"([["user.name","x","y"]])",
                                      R"([["user.name",null]])",
                                      R"([["user.name",1]])",
                                      R"([["user.name",1.5]])",
                                      R"([["user.name",-1]])",
                                      R"([["user.name",true]])",
                                      R"([[null,"x"]])",
                                      R"([["user.name",["x"]]])",
                                      R"([["user.name",{"a":1}]])",
                                      R"(["user.name","x"])",
                                      R"([{"user.name":"x"}])",
                                      R"({"user.name":"x"})",
                                      "[null]"}) {
    EXPECT_TRUE(is_refused(json, R::kEntriesForm));
  }
}

// cases.md 229
TEST(DecodeEntriesTest, WhateverFollowsTheArrayIsRefused) {
  for (const std::string_view json :
       {"[]x", "[][]", "[],", "[]]", "[] null", R"([["user.name","x"]]"")", "[]//", "[]/**/"}) {
    EXPECT_TRUE(is_refused(json, R::kEntriesForm));
  }
}

TEST(DecodeEntriesTest, WhatOnlyAForgivingParserTakesIsRefused) {
  for (const std::string_view json :
       {"[/**/]", "//\n[]", R"([["user.name","x"],])", R"([['user.name','x']])",
        R"([["user.name""x"]])", R"([["user.name","x"]["user.email","x"]])", "[", "[[",
        R"([["user.name","x)", "[[\"user.name\",\"line\nbreak\"]]",
        "[[\"user.name\",\"tab\there\"]]", R"([["user.name","\x41"]])", R"([["user.name","\u12"]])",
        "\xEF\xBB\xBF[]", "NaN", "[1e999]"}) {
    EXPECT_TRUE(is_refused(json, R::kEntriesForm));
  }
}

TEST(DecodeEntriesTest, HalfASurrogatePairIsRefusedAndAWholeOneIsTaken) {
  EXPECT_TRUE(is_refused(R"([["user.name","\ud83d"]])", R::kEntriesForm));
  EXPECT_TRUE(is_refused(R"([["user.name","\ude00\ud83d"]])", R::kEntriesForm));
  EXPECT_EQ(decoded(R"([["user.name","\ud83d\ude00"]])").name, "\xF0\x9F\x98\x80");
}

TEST(DecodeEntriesTest, BytesThatAreNotUtf8AreRefusedWhereverTheyStand) {
  EXPECT_TRUE(is_refused("[[\"user.name\",\"\xFF\"]]", R::kEntriesNotUtf8));
  EXPECT_TRUE(is_refused("[[\"user.name\",\"\xED\xA0\x80\"]]", R::kEntriesNotUtf8));
  EXPECT_TRUE(is_refused("[[\"user.name\",\"\xC0\x80\"]]", R::kEntriesNotUtf8));
  EXPECT_TRUE(is_refused("[]\x80", R::kEntriesNotUtf8));
  EXPECT_EQ(decoded("[[\"user.name\",\"\xC3\xA9\"]]").name, "\xC3\xA9");
}

// cases.md 229
TEST(DecodeEntriesTest, AnotherKeyIsRefused) {
  for (const std::string_view json :
       {R"([["user.signingkey","x"]])", R"([["user.Name","x"]])", R"([["","x"]])",
        R"([["user.name ","x"]])", R"([["core.pager","x"]])", R"([["user.name\u0000","x"]])",
        R"([["user.name","x"],["alias.x","!sh"]])"}) {
    EXPECT_TRUE(is_refused(json, R::kEntryKey));
  }
}

// cases.md 229
TEST(DecodeEntriesTest, ANulInAValueIsRefusedEscapedOrRaw) {
  EXPECT_TRUE(is_refused(R"([["user.name","a\u0000b"]])", R::kEntryNul));
  EXPECT_TRUE(is_refused(std::string_view("[[\"user.name\",\"a\0b\"]]", 21), R::kEntriesForm));
  // A parser that reads up to a NUL would see a sound array here.
  EXPECT_TRUE(is_refused(std::string_view("[]\0garbage", 10), R::kEntriesForm));
  EXPECT_EQ(decoded(R"([["user.name","a\u0001b"]])").name,
            "a\x01"
            "b");
}

// cases.md 229
TEST(DecodeEntriesTest, TheTextMayHave64KiBAndNotOneByteMore) {
  const std::string head = "[[\"user.name\",\"";
  const std::string tail = "\"]]";
  const std::string value(kMaxEntriesBytes - head.size() - tail.size(), 'x');

  EXPECT_EQ(decoded(head + value + tail).name, value);
  EXPECT_TRUE(is_refused(head + value + "x" + tail, R::kEntriesTooLong));
  EXPECT_TRUE(is_refused(std::string(kMaxEntriesBytes + 1, ' '), R::kEntriesTooLong));
}

TEST(DecodeEntriesTest, NestingAsDeepAsTheTextAllowsIsRefusedAndCostsNothing) {
  EXPECT_TRUE(is_refused(repeated("[", kMaxEntriesBytes), R::kEntriesForm));
  EXPECT_TRUE(is_refused(repeated("[", kMaxEntriesBytes / 2) + repeated("]", kMaxEntriesBytes / 2),
                         R::kEntriesForm));
  EXPECT_TRUE(is_refused(repeated("[{\"a\":", kMaxEntriesBytes / 6), R::kEntriesForm));
}

TEST(DecodeEntriesTest, ManyEntriesAreTaken) {
  const std::string many = "[" + repeated(R"(["user.name","x"],)", 3'000) + R"(["user.name","y"]])";
  EXPECT_EQ(decoded(many).name, "y");
}

// Every cut and every changed bit of a sound text: refused or read, never anything else.
TEST(DecodeEntriesTest, NoMutationOfASoundTextYieldsWhatIsNoIdentity) {
  const std::string sound = R"([["user.name","A \"\u00e9"],["user.email","a@b"]])";
  for (std::size_t i = 0; i < sound.size(); ++i) {
    EXPECT_FALSE(decode_entries(sound.substr(0, i))) << i;
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = sound;
      changed[i] = static_cast<char>(changed[i] ^ (1 << bit));
      const auto identity = decode_entries(changed);
      if (!identity) continue;
      EXPECT_THAT(identity->name.value_or(""),
                  ::testing::Not(::testing::HasSubstr(std::string(1, '\0'))));
    }
  }
}

}  // namespace
}  // namespace loom
