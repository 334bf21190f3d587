#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <loom/utf8.h>

#include "protocol/frame_reader.h"
#include "protocol/messages.h"
#include "tests/unit/policy/golden.h"

namespace loom {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The payload of exactly one frame; empty when `bytes` is anything else.
Bytes payload_of(const Bytes& bytes) {
  FrameReader reader;
  reader.feed(bytes);
  const auto next = reader.next();
  return next && *next && reader.at_boundary() ? **next : Bytes();
}

Frame frame_of(const Bytes& bytes) {
  auto frame = decode_frame(payload_of(bytes));
  EXPECT_TRUE(frame);
  return frame ? *std::move(frame) : Frame();
}

std::vector<std::string> keys_of(const Value& map) {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < map.items.size(); i += 2) keys.emplace_back(map.items[i].bytes);
  return keys;
}

ExecResult sample_result() {
  ExecResult result;
  result.code = 137;
  result.signal = 9;
  result.stdout_bytes = 70'000;
  result.stderr_bytes = 1;
  result.stdout_truncated = true;
  result.enforcement = {"bwrap", "landlock:abi=7"};
  result.degraded = true;
  result.wall = std::chrono::milliseconds(1234);
  result.timed_out = true;
  result.cancelled = true;
  result.outcome = Outcome{.outcome = OutcomeClass::kTimeout,
                           .detail = "wall_s",
                           .first_cause = "deadline",
                           .shell_status = 137};
  return result;
}

TEST(EncodeMessageTest, TheHelloIsTheCanonicalGolden) {
  const Hello hello{.proto = kProtocolNumber,
                    .peer = "exec-helper",
                    .features = {"rlimits", "pgroup", "bwrap", "landlock", "seccomp"}};

  EXPECT_EQ(payload_of(encode_hello_frame(1, hello)),
            test::golden("derived/helper-hello-proto3-canonical"));
}

TEST(EncodeMessageTest, TheHeartbeatIsTheBrokersOwn) {
  EXPECT_EQ(payload_of(encode_heartbeat_frame(4)), test::golden("derived/broker-heartbeat"));
}

TEST(EncodeMessageTest, AnOutputFrameCarriesItsFourKeysInOrder) {
  const Frame frame =
      frame_of(encode_exec_out_frame(2, Stream::kStderr, as_bytes("\xff\x00hi"), 9, true));

  EXPECT_EQ(frame.id, 2U);
  EXPECT_EQ(frame.kind, "exec_out");
  EXPECT_THAT(keys_of(frame.body), ElementsAre("stream", "data", "bytes", "truncated"));
  EXPECT_EQ(frame.body.find("stream")->bytes, "stderr");
  EXPECT_TRUE(frame.body.find("data")->is(Value::Kind::kBinary));
  EXPECT_EQ(frame.body.find("data")->bytes, "\xff");
  EXPECT_EQ(frame.body.find("bytes")->unsigned_number, 9U);
  EXPECT_TRUE(frame.body.find("truncated")->boolean);
}

TEST(EncodeMessageTest, AFullChunkFitsTheRoomReservedForIt) {
  const Bytes chunk(kMaxOutputChunk, std::byte{'x'});

  const Bytes frame = encode_exec_out_frame(~0ULL, Stream::kStdout, chunk, ~0ULL, false);

  EXPECT_LE(frame.size(), kMaxOutputChunk + 128);
  EXPECT_EQ(frame_of(frame).body.find("data")->bytes.size(), kMaxOutputChunk);
}

TEST(EncodeMessageTest, AnExitHasElevenKeysInTheTablesOrder) {
  const Frame frame = frame_of(encode_exec_exit_frame(2, sample_result(), false));

  EXPECT_THAT(keys_of(frame.body),
              ElementsAre("code", "signal", "stdout_bytes", "stderr_bytes", "stdout_truncated",
                          "stderr_truncated", "enforcement", "degraded", "wall_ms", "timed_out",
                          "cancelled"));
  EXPECT_EQ(frame.body.find("code")->unsigned_number, 137U);
  EXPECT_EQ(frame.body.find("signal")->unsigned_number, 9U);
  EXPECT_EQ(frame.body.find("stdout_bytes")->unsigned_number, 70'000U);
  EXPECT_EQ(frame.body.find("wall_ms")->unsigned_number, 1234U);
  EXPECT_TRUE(frame.body.find("stdout_truncated")->boolean);
  EXPECT_FALSE(frame.body.find("stderr_truncated")->boolean);
  EXPECT_EQ(frame.body.find("enforcement")->items.size(), 2U);
}

TEST(EncodeMessageTest, TheOutcomeIsThereOnlyWhenBothSidesKnowIt) {
  const Frame frame = frame_of(encode_exec_exit_frame(2, sample_result(), true));

  ASSERT_EQ(keys_of(frame.body).size(), 12U);
  const Value* outcome = frame.body.find("outcome");
  ASSERT_NE(outcome, nullptr);
  EXPECT_THAT(keys_of(*outcome), ElementsAre("class", "detail", "first_cause"));
  EXPECT_EQ(outcome->find("class")->bytes, "timeout");
  EXPECT_EQ(outcome->find("first_cause")->bytes, "deadline");
}

TEST(EncodeMessageTest, EveryTextThatGoesOutIsUtf8) {
  ExecResult result = sample_result();
  result.enforcement = {"skip:mounts: /\xff"};
  result.outcome.detail = "\xc3";
  result.outcome.first_cause = "\xed\xa0\x80";
  const Frame exit = frame_of(encode_exec_exit_frame(2, result, true));
  const Frame error = frame_of(encode_error_frame(2, WireError::kUnknownKind, "\x80kind"));
  const Frame hello =
      frame_of(encode_hello_frame(1, {.proto = 3, .peer = "\xff", .features = {"\xfe"}}));

  EXPECT_TRUE(is_utf8(exit.body.find("enforcement")->items[0].bytes));
  EXPECT_TRUE(is_utf8(exit.body.find("outcome")->find("detail")->bytes));
  EXPECT_TRUE(is_utf8(exit.body.find("outcome")->find("first_cause")->bytes));
  EXPECT_TRUE(is_utf8(error.body.find("msg")->bytes));
  EXPECT_TRUE(is_utf8(hello.body.find("peer")->bytes));
  EXPECT_TRUE(is_utf8(hello.body.find("features")->items[0].bytes));
}

TEST(EncodeMessageTest, AnErrorNamesItsCodeAndCutsItsText) {
  const Frame busy = frame_of(encode_error_frame(3, WireError::kBusy, "x"));
  const Frame large =
      frame_of(encode_error_frame(3, WireError::kSpawnFailed, std::string(1 << 20, 'y')));

  EXPECT_THAT(keys_of(busy.body), ElementsAre("code", "msg"));
  EXPECT_EQ(busy.body.find("code")->bytes, "busy");
  EXPECT_EQ(busy.body.find("msg")->bytes, "x");
  EXPECT_EQ(large.body.find("msg")->bytes.size(), kMaxErrorText);
}

// Written by hand: what a broker that knows no record has always read.
TEST(EncodeMessageTest, AnErrorWithoutARecordIsTheSameBytesAsEver) {
  const Bytes frame = encode_error_frame(3, WireError::kBusy, "x");

  EXPECT_EQ(frame, test::from_hex("00000029"
                                  "84a17601a2696403a46b696e64a56572726f72a4626f6479"
                                  "82a4636f6465a462757379a36d7367a178"));
}

TEST(EncodeMessageTest, ARecordIsTheThirdKeyOfAnError) {
  const Denial denial{.source = "guard", .op = "execute", .asked = "/x", .reason = "not_allowed"};

  const Frame frame =
      frame_of(encode_error_frame(3, WireError::kSpawnFailed, "not_allowed: /x", &denial));

  EXPECT_THAT(keys_of(frame.body), ElementsAre("code", "msg", "denial"));
  EXPECT_EQ(frame.body.find("msg")->bytes, "not_allowed: /x");
  const Value& record = *frame.body.find("denial");
  EXPECT_EQ(record.items.size(), 32U);
  EXPECT_EQ(record.find("reason")->bytes, "not_allowed");
  EXPECT_EQ(record.find("asked")->bytes, "/x");
}

TEST(EncodeMessageTest, EveryErrorHasItsWireCode) {
  EXPECT_EQ(wire_error_code(WireError::kMalformedFrame), "malformed_frame");
  EXPECT_EQ(wire_error_code(WireError::kProtoMismatch), "proto_mismatch");
  EXPECT_EQ(wire_error_code(WireError::kBadPolicy), "bad_policy");
  EXPECT_EQ(wire_error_code(WireError::kBusy), "busy");
  EXPECT_EQ(wire_error_code(WireError::kNoExec), "no_exec");
  EXPECT_EQ(wire_error_code(WireError::kSpawnFailed), "spawn_failed");
  EXPECT_EQ(wire_error_code(WireError::kUnknownKind), "unknown_kind");
}

TEST(EncodeMessageTest, AnEnforcementListThatDoesNotFitIsCutAndSaysSo) {
  ExecResult result = sample_result();
  result.enforcement.assign(2'000, "skip:mounts: " + std::string(16'000, '\xff'));

  const Bytes bytes = encode_exec_exit_frame(2, result, true);

  ASSERT_LE(bytes.size(), kMaxFrameBytes + kFramePrefixBytes);
  const Frame frame = frame_of(bytes);
  const std::vector<Value>& entries = frame.body.find("enforcement")->items;
  ASSERT_LT(entries.size(), 2'000U);
  EXPECT_THAT(std::string(entries.back().bytes), HasSubstr("further entries"));
  EXPECT_EQ(entries.back().bytes.rfind("skip:", 0), 0U);
}

}  // namespace
}  // namespace loom
