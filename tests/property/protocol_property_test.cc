#include <gtest/gtest.h>

#include <algorithm>

#include "protocol/frame_reader.h"
#include "protocol/messages.h"
#include "tests/property/property_seed.h"

namespace loom {
namespace {

using test::Dice;
using test::kPropertyRounds;
using test::property_seed;
using test::replay_hint;

Bytes random_bytes(Dice& dice, std::size_t below) {
  Bytes bytes(dice.below(below));
  for (std::byte& byte : bytes) byte = dice.byte();
  return bytes;
}

std::string random_text(Dice& dice) { return std::string(as_text(random_bytes(dice, 80))); }

// Frames of any payload, now and then with a length that breaks the stream.
Bytes random_stream(Dice& dice) {
  Bytes stream;
  for (std::size_t count = dice.below(8); count > 0; --count) {
    Bytes payload = random_bytes(dice, 400);
    if (payload.empty() && !dice.chance(4)) payload.push_back(std::byte{1});
    for (const std::size_t shift : {24U, 16U, 8U, 0U}) {
      stream.push_back(static_cast<std::byte>((payload.size() >> shift) & 0xffU));
    }
    stream.insert(stream.end(), payload.begin(), payload.end());
  }
  if (!stream.empty() && dice.chance(3)) stream.resize(dice.below(stream.size()) + 1);
  return stream;
}

struct Cut {
  std::vector<Bytes> frames;
  bool broken = false;
  bool at_boundary = false;
  friend bool operator==(const Cut&, const Cut&) = default;
};

void take_frames(FrameReader& reader, Cut& cut) {
  while (!cut.broken) {
    auto next = reader.next();
    if (!next) {
      cut.broken = true;
    } else if (!*next) {
      return;
    } else {
      cut.frames.push_back(**std::move(next));
    }
  }
}

// Reads the stream in chunks of sizes that `size` says, taking frames after each.
template <class Size>
Cut read_in_chunks(const Bytes& stream, Size size) {
  FrameReader reader;
  Cut cut;
  for (std::size_t at = 0; at < stream.size();) {
    const std::size_t length = std::min(size(), stream.size() - at);
    reader.feed(ByteView(stream).subspan(at, length));
    take_frames(reader, cut);
    at += length;
  }
  cut.at_boundary = !cut.broken && reader.at_boundary();
  return cut;
}

TEST(ProtocolPropertyTest, ChunkingNeverChangesTheFrames) {
  const std::uint32_t seed = property_seed();
  Dice dice(seed);
  std::size_t frames = 0;
  for (int round = 0; round < kPropertyRounds; ++round) {
    SCOPED_TRACE(replay_hint(seed, round));
    const Bytes stream = random_stream(dice);

    const Cut whole = read_in_chunks(stream, [&] { return stream.size(); });

    frames += whole.frames.size();
    ASSERT_EQ(read_in_chunks(stream, [] { return std::size_t{1}; }), whole);
    ASSERT_EQ(read_in_chunks(stream, [&] { return dice.below(64) + 1; }), whole);
  }
  EXPECT_GT(frames, static_cast<std::size_t>(kPropertyRounds));
}

// The frame that `bytes` holds after its prefix, through the reader like any other.
Result<Frame> read_frame(const Bytes& bytes) {
  FrameReader reader;
  reader.feed(bytes);
  LOOM_TRY(auto payload, reader.next());
  if (!payload || !reader.at_boundary()) return fail(ErrorCode::kInvalidRequest, "not one frame");
  return decode_frame(*std::move(payload));
}

TEST(ProtocolPropertyTest, WhatIsEncodedDecodesToItself) {
  const std::uint32_t seed = property_seed();
  Dice dice(seed);
  for (int round = 0; round < kPropertyRounds; ++round) {
    SCOPED_TRACE(replay_hint(seed, round));
    const std::uint64_t id = dice.number();
    const Bytes data = random_bytes(dice, 3'000);
    const std::uint64_t total = dice.number();

    const auto frame = read_frame(encode_exec_out_frame(id, Stream::kStdout, data, total, true));

    ASSERT_TRUE(frame) << frame.error().message;
    ASSERT_EQ(frame->id, id);
    ASSERT_EQ(frame->body.find("data")->bytes, as_text(data));
    ASSERT_EQ(frame->body.find("bytes")->unsigned_number, total);
  }
}

TEST(ProtocolPropertyTest, AHelloOfAnyTextIsReadBackAsUtf8) {
  const std::uint32_t seed = property_seed();
  Dice dice(seed);
  for (int round = 0; round < kPropertyRounds; ++round) {
    SCOPED_TRACE(replay_hint(seed, round));
    const Hello hello{
        .proto = dice.number(), .peer = random_text(dice), .features = {random_text(dice)}};
    const auto first = read_frame(encode_hello_frame(dice.number(), hello));
    ASSERT_TRUE(first) << first.error().message;
    const auto read = decode_hello(first->body);
    ASSERT_TRUE(read);
    ASSERT_EQ(read->proto, hello.proto);

    // Once made valid, text stays as it is.
    const auto second = read_frame(encode_hello_frame(0, *read));
    ASSERT_TRUE(second);
    ASSERT_EQ(*decode_hello(second->body), *read);
  }
}

}  // namespace
}  // namespace loom
