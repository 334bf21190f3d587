#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <loom/value.h>

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <string>

namespace loom {
namespace {

using ::testing::HasSubstr;

Bytes bytes(std::initializer_list<int> values) {
  Bytes out;
  for (const int value : values) out.push_back(static_cast<std::byte>(value));
  return out;
}

Bytes repeated(int value, std::size_t count) { return Bytes(count, static_cast<std::byte>(value)); }

Bytes operator+(Bytes left, const Bytes& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

TEST(ParseValueTest, EachRefusalSaysWhy) {
  const struct {
    const char* name;
    Bytes input;
    const char* reason;
  } kCases[] = {
      {"empty input", {}, "empty"},
      {"bytes after the value", bytes({0xC0, 0xC0}), "bytes after the value"},
      {"truncated string", bytes({0xA5, 'a'}), "too short"},
      {"truncated header", bytes({0xDA, 0x00}), "too short"},
      {"array without items", bytes({0x92, 0xC0}), "too short"},
      {"fixext 1", bytes({0xD4, 0x01, 0x00}), "extension"},
      {"ext 8 of nothing", bytes({0xC7, 0x00, 0x01}), "extension"},
      {"float32", bytes({0xCA, 0x3F, 0x80, 0, 0}), "float32"},
      {"infinity", bytes({0xCB, 0x7F, 0xF0, 0, 0, 0, 0, 0, 0}), "not finite"},
      {"not a number", bytes({0xCB, 0x7F, 0xF8, 0, 0, 0, 0, 0, 0}), "not finite"},
      {"the unused byte", bytes({0xC1}), "starts no value"},
      {"the unused byte inside", bytes({0x91, 0xC1}), "starts no value"},
      {"two equal keys", bytes({0x82, 0xA1, 'a', 1, 0xA1, 'a', 2}), "equal keys"},
      {"equal keys in two spellings", bytes({0x82, 0xA1, 'a', 1, 0xD9, 1, 'a', 2}), "equal keys"},
      {"equal numbers in two spellings", bytes({0x82, 0x01, 1, 0xCC, 0x01, 2}), "equal keys"},
      {"equal keys in an inner map", bytes({0x91, 0x82, 0xA0, 1, 0xA0, 2}), "equal keys"},
      {"equal arrays as keys", bytes({0x82, 0x91, 1, 1, 0x91, 1, 2}), "equal keys"},
  };
  for (const auto& [name, input, reason] : kCases) {
    SCOPED_TRACE(name);
    const auto value = parse_value(input);

    ASSERT_FALSE(value);
    EXPECT_EQ(value.error().code, ErrorCode::kInvalidRequest);
    EXPECT_THAT(value.error().message, HasSubstr(reason));
  }
}

TEST(ParseValueTest, KeysThatOnlyLookAlikeAreTwo) {
  EXPECT_TRUE(parse_value(bytes({0x82, 0xA1, 'a', 1, 0xA1, 'b', 2})));
  EXPECT_TRUE(parse_value(bytes({0x82, 0xA1, '1', 1, 0x01, 2})));
  EXPECT_TRUE(parse_value(bytes({0x82, 0xA1, 'a', 1, 0xC4, 1, 'a', 2})));
}

Bytes map_of_numbered_keys(std::size_t count, std::size_t last_key) {
  ValueWriter out;
  out.map(count);
  for (std::size_t i = 0; i < count; ++i) {
    out.text("key" + std::to_string(i + 1 == count ? last_key : i));
    out.nil();
  }
  return out.take();
}

TEST(ParseValueTest, EqualKeysAreFoundInMapsOfEverySize) {
  for (const std::size_t count : {2u, 16u, 17u, 18u, 1000u, 70'000u}) {
    SCOPED_TRACE(count);
    EXPECT_TRUE(parse_value(map_of_numbered_keys(count, count)));
    EXPECT_FALSE(parse_value(map_of_numbered_keys(count, 0)));
    EXPECT_FALSE(parse_value(map_of_numbered_keys(count, count - 2)));
  }
}

// cases.md 35
TEST(ParseValueTest, NestingEndsAtItsCeiling) {
  EXPECT_TRUE(parse_value(repeated(0x91, kMaxValueNesting) + bytes({0xC0})));
  EXPECT_FALSE(parse_value(repeated(0x91, kMaxValueNesting + 1) + bytes({0xC0})));
  EXPECT_TRUE(parse_value(repeated(0x91, kMaxValueNesting - 1) + bytes({0x90})));
  EXPECT_FALSE(parse_value(repeated(0x91, kMaxValueNesting) + bytes({0x80})));
  EXPECT_FALSE(parse_value(repeated(0x91, 1'000'000)));
}

TEST(ParseValueTest, ItemsEndAtTheirCeiling) {
  const auto array_of_nils = [](std::size_t count) {
    ValueWriter out;
    out.array(count);
    return out.take() + repeated(0xC0, count);
  };

  EXPECT_TRUE(parse_value(array_of_nils(kMaxValueItems - 1)));
  EXPECT_FALSE(parse_value(array_of_nils(kMaxValueItems)));
}

// Memory for four billion items would end the process.
TEST(ParseValueTest, AnAnnouncedLengthReservesNothing) {
  for (const Bytes& input :
       {bytes({0xDD, 0xFF, 0xFF, 0xFF, 0xFF}), bytes({0xDF, 0xFF, 0xFF, 0xFF, 0xFF}),
        bytes({0xDB, 0xFF, 0xFF, 0xFF, 0xFF}), bytes({0xC6, 0xFF, 0xFF, 0xFF, 0xFF}),
        bytes({0xC9, 0xFF, 0xFF, 0xFF, 0xFF, 0x01})}) {
    EXPECT_FALSE(parse_value(input));
    EXPECT_FALSE(parse_value(repeated(0x91, 200) + input));
  }
}

TEST(ParseValueTest, TextAndBinaryAreBorrowedFromTheInput) {
  const Bytes input = bytes({0x92, 0xA2, 'h', 'i', 0xC4, 2, 1, 2});

  const auto value = parse_value(input);

  ASSERT_TRUE(value);
  EXPECT_EQ(static_cast<const void*>(value->items[0].bytes.data()), input.data() + 2);
  EXPECT_EQ(static_cast<const void*>(value->items[1].bytes.data()), input.data() + 6);
}

TEST(ParseValueTest, LongHeadersOfShortThingsAreAccepted) {
  const Bytes input =
      bytes({0xDF, 0, 0, 0, 1, 0xDB, 0, 0, 0, 1, 'a', 0xD3, 0, 0, 0, 0, 0, 0, 0, 7});

  const auto value = parse_value(input);

  ASSERT_TRUE(value);
  ASSERT_NE(value->find("a"), nullptr);
  EXPECT_EQ(value->find("a")->kind, Value::Kind::kUnsigned);
  EXPECT_EQ(value->find("a")->unsigned_number, 7u);
  EXPECT_EQ(value->find("b"), nullptr);
}

TEST(ParseValueTest, IntegersKeepTheirValueAtEveryEdge) {
  for (const std::int64_t number :
       {std::int64_t{-1}, std::int64_t{-32}, std::int64_t{-33}, std::int64_t{-128},
        std::int64_t{-129}, std::int64_t{-32768}, std::int64_t{-32769}, std::int64_t{-2147483648},
        std::int64_t{-2147483649}, std::numeric_limits<std::int64_t>::min()}) {
    ValueWriter out;
    out.signed_number(number);
    const auto value = parse_value(out.bytes());
    ASSERT_TRUE(value);
    EXPECT_EQ(value->kind, Value::Kind::kNegative);
    EXPECT_EQ(value->negative_number, number);
  }
  for (unsigned bits = 0; bits < 64; ++bits) {
    for (const std::uint64_t number :
         {std::uint64_t{1} << bits, (std::uint64_t{1} << bits) - 1, ~std::uint64_t{0} >> bits}) {
      ValueWriter out;
      out.number(number);
      const auto value = parse_value(out.bytes());
      ASSERT_TRUE(value);
      EXPECT_EQ(value->kind, Value::Kind::kUnsigned);
      EXPECT_EQ(value->unsigned_number, number);
    }
  }
}

TEST(ValueWriterTest, APositiveSignedNumberIsWrittenLikeAnUnsignedOne) {
  for (const std::int64_t number : {0l, 127l, 128l, 255l, 256l, 65535l, 65536l}) {
    ValueWriter as_signed;
    ValueWriter as_unsigned;
    as_signed.signed_number(number);
    as_unsigned.number(static_cast<std::uint64_t>(number));
    EXPECT_EQ(as_signed.bytes(), as_unsigned.bytes());
  }
}

TEST(ValueWriterTest, ANameIsAStringWhereItCanBe) {
  ValueWriter out;
  out.name("caf\xC3\xA9");
  EXPECT_EQ(parse_value(out.bytes())->kind, Value::Kind::kText);

  ValueWriter raw;
  raw.name("caf\xE9");
  EXPECT_EQ(parse_value(raw.bytes())->kind, Value::Kind::kBinary);
  EXPECT_EQ(raw.bytes(), bytes({0xC4, 4, 'c', 'a', 'f', 0xE9}));
}

TEST(ValueWriterTest, HeadersAreAsShortAsTheyCanBe) {
  const struct {
    std::size_t length;
    std::size_t header;
  } kCases[] = {{0, 1}, {31, 1}, {32, 2}, {255, 2}, {256, 3}, {65535, 3}, {65536, 5}};
  for (const auto& [length, header] : kCases) {
    SCOPED_TRACE(length);
    ValueWriter out;
    out.text(std::string(length, 'x'));
    EXPECT_EQ(out.bytes().size(), header + length);
  }
}

}  // namespace
}  // namespace loom
