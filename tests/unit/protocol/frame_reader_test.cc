#include "protocol/frame_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace loom {
namespace {

using testing::HasSubstr;

Bytes prefix(std::size_t length) {
  Bytes bytes;
  for (const unsigned shift : {24U, 16U, 8U, 0U})
    bytes.push_back(std::byte((length >> shift) & 0xffU));
  return bytes;
}

Bytes frame(std::string_view payload) {
  Bytes bytes = prefix(payload.size());
  for (const char c : payload) bytes.push_back(static_cast<std::byte>(c));
  return bytes;
}

// The next payload as text; "-" when there is none yet, "!" for an error.
std::string next_text(FrameReader& reader) {
  const auto next = reader.next();
  if (!next) return "!";
  return *next ? std::string(as_text(**next)) : "-";
}

TEST(FrameReaderTest, AFrameComesOutWhenItsLastByteIsIn) {
  const Bytes bytes = frame("abc");
  FrameReader reader;
  for (std::size_t i = 0; i + 1 < bytes.size(); ++i) {
    reader.feed(ByteView(bytes).subspan(i, 1));
    EXPECT_EQ(next_text(reader), "-");
    EXPECT_FALSE(reader.at_boundary());
  }

  reader.feed(ByteView(bytes).last(1));

  EXPECT_EQ(next_text(reader), "abc");
  EXPECT_TRUE(reader.at_boundary());
}

TEST(FrameReaderTest, FramesOfOneChunkComeOutInOrder) {
  Bytes bytes = frame("one");
  for (const std::byte byte : frame("two")) bytes.push_back(byte);
  FrameReader reader;

  reader.feed(bytes);

  EXPECT_EQ(next_text(reader), "one");
  EXPECT_FALSE(reader.at_boundary());
  EXPECT_EQ(next_text(reader), "two");
  EXPECT_EQ(next_text(reader), "-");
  EXPECT_TRUE(reader.at_boundary());
}

TEST(FrameReaderTest, AnEmptyStreamIsAtABoundary) {
  FrameReader reader;
  EXPECT_TRUE(reader.at_boundary());
  EXPECT_EQ(next_text(reader), "-");
}

TEST(FrameReaderTest, ALengthOfZeroIsRefused) {
  FrameReader reader;
  reader.feed(prefix(0));

  const auto next = reader.next();

  ASSERT_FALSE(next);
  EXPECT_EQ(next.error().code, ErrorCode::kInvalidRequest);
  EXPECT_THAT(next.error().message, HasSubstr("0"));
}

TEST(FrameReaderTest, TheLargestFrameIsReadAndOneByteMoreIsRefusedByItsPrefixAlone) {
  FrameReader reader;
  reader.feed(prefix(kMaxFrameBytes));
  reader.feed(Bytes(kMaxFrameBytes, std::byte{7}));
  const auto largest = reader.next();
  ASSERT_TRUE(largest);
  ASSERT_TRUE(*largest);
  EXPECT_EQ((*largest)->size(), kMaxFrameBytes);

  reader.feed(prefix(kMaxFrameBytes + 1));

  const auto over = reader.next();
  ASSERT_FALSE(over);
  EXPECT_THAT(over.error().message, HasSubstr("16777217"));
}

TEST(FrameReaderTest, AfterAnErrorNothingIsReadAnyMore) {
  FrameReader reader;
  reader.feed(prefix(0xffffffff));
  EXPECT_EQ(next_text(reader), "!");
  const std::size_t held = reader.buffered();

  reader.feed(frame("late"));

  EXPECT_EQ(next_text(reader), "!");
  EXPECT_EQ(reader.buffered(), held);
}

TEST(FrameReaderTest, FramesBeforeABrokenLengthStillComeOut) {
  Bytes bytes = frame("good");
  for (const std::byte byte : prefix(0)) bytes.push_back(byte);
  FrameReader reader;
  reader.feed(bytes);

  EXPECT_EQ(next_text(reader), "good");
  EXPECT_EQ(next_text(reader), "!");
}

TEST(FrameReaderTest, WhatIsHeldIsWhatWasFedAndNotTaken) {
  FrameReader reader;
  reader.feed(frame("abc"));
  reader.feed(frame("defgh"));
  EXPECT_EQ(reader.buffered(), 16U);

  EXPECT_EQ(next_text(reader), "abc");

  EXPECT_EQ(reader.buffered(), 9U);
}

}  // namespace
}  // namespace loom
