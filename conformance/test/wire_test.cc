#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "conformance/wire/run.h"

namespace loom::conformance {
namespace {

using namespace std::string_literals;
using ::testing::HasSubstr;
using Execution = Run;  // GoogleTest's fixtures have a Run of their own

struct Golden {
  Json value;
  std::string bytes;
};

// As tests/golden/msgpack.json has them, written down once more.
std::vector<Golden> goldens() {
  return {{nullptr, "\xc0"},
          {true, "\xc3"},
          {127, "\x7f"},
          {128, "\xcc\x80"},
          {256, "\xcd\x01\0"s},
          {65'536, "\xce\0\x01\0\0"s},
          {0xFFFF'FFFF'FFFF'FFFF, "\xcf\xff\xff\xff\xff\xff\xff\xff\xff"},
          {-1, "\xff"},
          {-33, "\xd0\xdf"},
          {-129, "\xd1\xff\x7f"},
          {1.5, "\xcb\x3f\xf8\0\0\0\0\0\0"s},
          {-2.0, "\xcb\xc0\0\0\0\0\0\0\0"s},
          {"héllo", "\xa6h\xc3\xa9llo"},
          {binary("\x01\x02\x03"), "\xc4\x03\x01\x02\x03"},
          {Json::array(), "\x90"},
          {{{"k", Json::array({nullptr, true, -1})}}, "\x81\xa1k\x93\xc0\xc3\xff"}};
}

TEST(WireValueTest, GoldenValuesHaveTheirBytesBothWays) {
  for (const Golden& golden : goldens()) {
    EXPECT_EQ(pack(golden.value), golden.bytes) << golden.value;
    const auto read = unpack(golden.bytes);
    ASSERT_TRUE(read) << golden.value;
    EXPECT_EQ(read->value, golden.value);
    EXPECT_EQ(read->spelling, Spelling::kSmallest) << golden.value;
  }
}

TEST(WireValueTest, WiderThanNeededShows) {
  for (const std::string& wide :
       {"\xcc\x05"s, "\xd0\x05"s, "\xcd\0\x05"s, "\xd9\x01x"s, "\xc5\0\x01x"s, "\xdc\0\0"s,
        "\xde\0\0"s, "\x81\xa4"s + "code\xcf\0\0\0\0\0\0\0\x05"s}) {
    const auto read = unpack(wide);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->spelling, Spelling::kOther) << read->value;
  }
}

TEST(WireValueTest, CountsOfNineBytesAreToldApart) {
  const auto read = unpack("\x82\xa2id\xcf\0\0\0\0\0\0\0\x05\xa1v\x01"s);
  const auto mixed = unpack("\x82\xa2id\xcf\0\0\0\0\0\0\0\x05\xa1v\xcc\x01"s);

  ASSERT_TRUE(read && mixed);
  EXPECT_EQ(read->spelling, Spelling::kWideCounts);
  EXPECT_EQ(mixed->spelling, Spelling::kOther);
}

TEST(WireValueTest, WhatNoBrokerReadsIsRefused) {
  for (const std::string& bytes :
       {""s, "\xc1"s, "\xa5x"s, "\x05\x05"s, "\xd4\x01\x01"s, "\xca\x3f\x80\0\0"s,
        "\xcb\x7f\xf0\0\0\0\0\0\0"s, "\xa1\xff"s, "\x81\x01\x01"s, "\x82\xa1x\x01\xa1x\x01"s,
        std::string(300, '\x91') + "\x90"}) {
    EXPECT_FALSE(unpack(bytes)) << ::testing::PrintToString(bytes.substr(0, 20));
  }
}

std::string payload(const char* kind, const Json& body) {
  return pack({{"v", 1}, {"id", 5}, {"kind", kind}, {"body", body}});
}

TEST(WireFrameTest, KeyIsDueByWhatBothHellosList) {
  const Json plain = {{"code", "busy"}, {"msg", "x"}};
  Json more = plain;
  more["denial"] = Json::object();

  EXPECT_TRUE(read_frame(payload("error", plain), {}));
  EXPECT_TRUE(read_frame(payload("error", plain), {.denial = true}));
  EXPECT_TRUE(read_frame(payload("error", more), {.denial = true}));
  const auto refused = read_frame(payload("error", more), {});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("denial"));
}

TEST(WireFrameTest, KeyMoreKeyLessAndOtherTypeAreRefused) {
  const Json good = {
      {"stream", "stdout"}, {"data", binary("x")}, {"bytes", 1}, {"truncated", false}};
  const auto changed = [&good](const char* key, const Json& value) {
    Json body = good;
    body[key] = value;
    return payload("exec_out", body);
  };
  Json less = good;
  less.erase("bytes");

  EXPECT_TRUE(read_frame(payload("exec_out", good), {}));
  EXPECT_FALSE(read_frame(payload("exec_out", less), {}));
  EXPECT_FALSE(read_frame(changed("more", 1), {}));
  EXPECT_FALSE(read_frame(changed("data", "x"), {}));
  EXPECT_FALSE(read_frame(changed("bytes", -1), {}));
  EXPECT_FALSE(read_frame(changed("stream", "stdlog"), {}));
  EXPECT_FALSE(read_frame(changed("data", binary("")), {}));
  EXPECT_FALSE(read_frame(changed("data", binary(std::string(32'769, 'x'))), {}));
  EXPECT_FALSE(read_frame(payload("exec_start", Json::object()), {}));
}

Frame chunk(std::string_view data, std::uint64_t bytes, bool truncated = false) {
  Frame frame;
  frame.kind = "exec_out";
  frame.body = {
      {"stream", "stdout"}, {"data", binary(data)}, {"bytes", bytes}, {"truncated", truncated}};
  return frame;
}

Frame exit_with(std::uint64_t bytes) {
  Frame frame;
  frame.kind = "exec_exit";
  frame.body = {{"code", 0u},
                {"stdout_bytes", bytes},
                {"stderr_bytes", 0u},
                {"stdout_truncated", false},
                {"stderr_truncated", false}};
  return frame;
}

TEST(WireRunTest, CountsMustFitWhatWasSent) {
  Execution run;
  EXPECT_TRUE(run.take(chunk("abc", 3)));
  EXPECT_FALSE(run.take(chunk("d", 5)));

  Execution other;
  EXPECT_TRUE(other.take(chunk("abc", 3)));
  EXPECT_FALSE(other.take(exit_with(2)));
}

TEST(WireRunTest, NothingFollowsTheExitAndNoErrorFollowsOutput) {
  Execution run;
  EXPECT_TRUE(run.take(chunk("abc", 3)));
  Frame error;
  error.kind = "error";
  error.body = {{"code", "spawn_failed"}, {"msg", "late"}};
  EXPECT_FALSE(run.take(error));
  EXPECT_TRUE(run.take(exit_with(3)));
  EXPECT_FALSE(run.take(exit_with(3)));
  EXPECT_FALSE(run.take(chunk("d", 4)));
}

TEST(WireRunTest, StreamIsSilentOnceItIsCut) {
  Execution run;
  EXPECT_TRUE(run.take(chunk("abc", 3, true)));
  EXPECT_FALSE(run.take(chunk("d", 4)));
}

}  // namespace
}  // namespace loom::conformance
