#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "protocol/messages.h"
#include "tests/unit/policy/encoded.h"
#include "tests/unit/policy/golden.h"

namespace loom {
namespace {

using test::array;
using test::binary;
using test::boolean;
using test::Document;
using test::map;
using test::negative;
using test::nil;
using test::number;
using test::raw;
using test::real;
using test::text;
using test::texts;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

Document envelope() {
  return {{"v", number(1)}, {"id", number(7)}, {"kind", text("cancel")}, {"body", map({})}};
}

std::string frame_message(const Bytes& payload) {
  const auto frame = decode_frame(payload);
  return frame ? "decoded" : frame.error().message;
}

TEST(DecodeFrameTest, AFrameIsTakenApart) {
  const auto frame = decode_frame(envelope().bytes());

  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->id, 7U);
  EXPECT_EQ(frame->kind, "cancel");
  EXPECT_TRUE(frame->body.is(Value::Kind::kMap));
}

TEST(DecodeFrameTest, KeysMayComeInAnyOrder) {
  const Document shuffled{
      {"body", map({})}, {"kind", text("cancel")}, {"id", number(7)}, {"v", number(1)}};

  EXPECT_EQ(frame_message(shuffled.bytes()), "decoded");
}

TEST(DecodeFrameTest, EveryGoldenFrameDecodes) {
  for (const char* name :
       {"frame_hello_1.bin", "derived/broker-hello-proto3", "derived/broker-exec-start-min",
        "derived/broker-exec-start-policy", "derived/broker-exec-stdin-eof",
        "derived/broker-cancel", "derived/broker-heartbeat", "derived/broker-shutdown",
        "derived/helper-hello-proto3", "derived/helper-exec-exit"}) {
    SCOPED_TRACE(name);
    EXPECT_EQ(frame_message(test::golden(name)), "decoded");
  }
}

struct Row {
  std::string_view fault;
  Bytes payload;
  std::string_view token;
};

TEST(DecodeFrameTest, TheEnvelopeIsRefusedByName) {
  Bytes trailing = envelope().bytes();
  trailing.push_back(std::byte{0xc0});
  const Row rows[] = {
      {"empty array", array({}), "expected map"},
      {"array in field order", array({number(1), number(7), text("cancel"), map({})}),
       "expected map"},
      {"nil", nil(), "expected map"},
      {"no v", envelope().without("v").bytes(), "\"v\""},
      {"no id", envelope().without("id").bytes(), "\"id\""},
      {"no kind", envelope().without("kind").bytes(), "\"kind\""},
      {"no body", envelope().without("body").bytes(), "\"body\""},
      {"nil v", envelope().with("v", nil()).bytes(), "\"v\""},
      {"nil kind", envelope().with("kind", nil()).bytes(), "\"kind\""},
      {"nil body", envelope().with("body", nil()).bytes(), "\"body\""},
      {"wrong v", envelope().with("v", number(2)).bytes(), "version 2"},
      {"negative v", envelope().with("v", negative(-1)).bytes(), "frame.v: negative"},
      {"float v", envelope().with("v", real(1.0)).bytes(), "frame.v: expected integer"},
      {"float id", envelope().with("id", real(1.0)).bytes(), "frame.id: expected integer"},
      {"text id", envelope().with("id", text("1")).bytes(), "frame.id: expected integer"},
      {"empty kind", envelope().with("kind", text("")).bytes(), "frame.kind"},
      {"integer kind", envelope().with("kind", number(1)).bytes(), "frame.kind"},
      {"unknown key", envelope().with("x\n", nil()).bytes(), "x\\x0a"},
      {"key that is no text", map({{number(1), nil()}}), "key"},
      {"duplicate key", envelope().with_another("id", number(8)).bytes(), "equal keys"},
      {"bytes behind", trailing, "after"},
      {"ext as id", envelope().with("id", raw({0xd4, 1, 1})).bytes(), "extension"},
      {"float32 as v", envelope().with("v", raw({0xca, 0, 0, 0, 0})).bytes(), "float32"},
      {"c1", raw({0xc1}), ""},
  };
  ASSERT_EQ(frame_message(envelope().bytes()), "decoded");
  for (const Row& row : rows) {
    SCOPED_TRACE(row.fault);
    const auto frame = decode_frame(row.payload);
    ASSERT_FALSE(frame);
    EXPECT_EQ(frame.error().code, ErrorCode::kInvalidRequest);
    EXPECT_THAT(frame.error().message, HasSubstr(row.token));
  }
}

// What is wrong inside a body is the body's fault: the frame keeps its id, and the channel its
// life.
TEST(DecodeFrameTest, ABodyThatCannotBeUsedIsRefusedByItsKind) {
  const Row rows[] = {
      {"ext", raw({0xd4, 1, 1}), "extension"},
      {"float32", raw({0xca, 0, 0, 0, 0}), "float32"},
      {"equal keys", raw({0x82, 0xa3, 'e', 'o', 'f', 0xc2, 0xa3, 'e', 'o', 'f', 0xc3}),
       "equal keys"},
      {"ext as data", map({{text("data"), raw({0xd4, 1, 1})}, {text("eof"), raw({0xc3})}}),
       "exec_stdin.data"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.fault);
    const auto frame = decode_frame(envelope().with("body", row.payload).bytes());
    ASSERT_TRUE(frame) << frame.error().message;
    const auto body = decode_exec_stdin(frame->body);
    ASSERT_FALSE(body);
    EXPECT_THAT(body.error().message, HasSubstr(row.token));
  }
}

TEST(DecodeFrameTest, EveryIntegerFormOfTheVersionIsOne) {
  for (const Bytes& one :
       {raw({0x01}), raw({0xcc, 1}), raw({0xcd, 0, 1}), raw({0xd0, 1}),
        raw({0xd3, 0, 0, 0, 0, 0, 0, 0, 1}), raw({0xcf, 0, 0, 0, 0, 0, 0, 0, 1})}) {
    EXPECT_EQ(frame_message(envelope().with("v", one).bytes()), "decoded");
  }
}

TEST(DecodeFrameTest, AnIdIsABitPattern) {
  const auto id_of = [](const Bytes& id) {
    return decode_frame(envelope().with("id", id).bytes())->id;
  };

  EXPECT_EQ(id_of(number(std::numeric_limits<std::uint64_t>::max())),
            std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(id_of(negative(-1)), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(id_of(negative(std::numeric_limits<std::int64_t>::min())), std::uint64_t{1} << 63U);
}

TEST(DecodeFrameTest, AKindMayBeBinaryAndHoldAnyByte) {
  const auto frame = decode_frame(envelope().with("kind", binary("\xff")).bytes());

  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->kind, "\xff");
}

TEST(DecodeFrameTest, ABodyIsAnyValueButNil) {
  for (const Bytes& body : {number(0), text("x"), array({}), boolean(false)}) {
    EXPECT_EQ(frame_message(envelope().with("body", body).bytes()), "decoded");
  }
}

TEST(DecodeFrameTest, TheBodyStaysValidWhenTheFrameMoves) {
  auto decoded = decode_frame(envelope().with("body", text("hello there, body")).bytes());
  ASSERT_TRUE(decoded);

  const Frame moved = *std::move(decoded);

  EXPECT_EQ(moved.body.bytes, "hello there, body");
}

// Parses the document and lets a decoder read it while its bytes live.
template <class Decode>
auto decode_body(const Bytes& body, Decode decode) {
  auto tree = parse_value(body);
  EXPECT_TRUE(tree);
  return decode(*tree);
}

template <class Decode>
std::string body_message(const Bytes& body, Decode decode) {
  const auto decoded = decode_body(body, decode);
  return decoded ? "decoded" : decoded.error().message;
}

Document hello_document() {
  return {{"proto", number(3)}, {"peer", text("broker")}, {"features", texts({"exec-outcome-v1"})}};
}

TEST(DecodeHelloTest, AHelloIsReadAndItsFaultsAreNamed) {
  const auto hello = decode_body(hello_document().bytes(), decode_hello);
  ASSERT_TRUE(hello);
  EXPECT_EQ(*hello, (Hello{.proto = 3, .peer = "broker", .features = {"exec-outcome-v1"}}));

  const std::pair<Bytes, std::string_view> rows[] = {
      {hello_document().with("proto", text("3")).bytes(), "hello.proto: expected integer"},
      {hello_document().with("proto", negative(-3)).bytes(), "hello.proto: negative"},
      {hello_document().with("proto", real(3.0)).bytes(), "hello.proto"},
      {hello_document().with("peer", number(3)).bytes(), "hello.peer: expected string"},
      {hello_document().with("features", text("x")).bytes(), "hello.features: expected array"},
      {hello_document().with("features", array({number(1)})).bytes(), "hello.features[0]"},
      {hello_document().with("extra", nil()).bytes(), "unknown key \"extra\""},
      {array({number(3), text("broker"), array({})}), "hello: expected map"},
  };
  for (const auto& [body, token] : rows) {
    EXPECT_THAT(body_message(body, decode_hello), HasSubstr(token));
  }
}

TEST(DecodeHelloTest, NilAndMissingCountAsEmpty) {
  const auto empty = decode_body(map({}), decode_hello);
  const auto nils = decode_body(
      Document{{"proto", nil()}, {"peer", nil()}, {"features", nil()}}.bytes(), decode_hello);

  ASSERT_TRUE(empty);
  ASSERT_TRUE(nils);
  EXPECT_EQ(*empty, Hello{});
  EXPECT_EQ(*nils, Hello{});
}

Document start_document() {
  return {{"argv", texts({"/bin/echo", "hello"})},
          {"env", map({{text("PATH"), text("/usr/bin")}, {text("A"), text("b=c")}})},
          {"cwd", text("/work")},
          {"token", binary("secret")}};
}

TEST(DecodeExecStartTest, AStartIsRead) {
  const Bytes body = start_document().bytes();
  const auto tree = parse_value(body);
  ASSERT_TRUE(tree);

  const auto start = decode_exec_start(*tree);

  ASSERT_TRUE(start);
  EXPECT_THAT(start->argv, ElementsAre("/bin/echo", "hello"));
  EXPECT_THAT(start->env, ElementsAre(Pair("A", "b=c"), Pair("PATH", "/usr/bin")));
  EXPECT_EQ(start->cwd, "/work");
  EXPECT_EQ(as_text(start->token), "secret");
  EXPECT_EQ(start->policy, nullptr);
}

TEST(DecodeExecStartTest, TheGoldenStartCarriesItsPolicy) {
  const auto frame = decode_frame(test::golden("derived/broker-exec-start-policy"));
  ASSERT_TRUE(frame);

  const auto start = decode_exec_start(frame->body);

  ASSERT_TRUE(start);
  ASSERT_NE(start->policy, nullptr);
  EXPECT_TRUE(start->policy->is(Value::Kind::kMap));
}

TEST(DecodeExecStartTest, FaultsAreNamed) {
  const std::string_view nul("a\0b", 3);
  const std::pair<Bytes, std::string_view> rows[] = {
      {start_document().with("argv", text("x")).bytes(), "exec_start.argv: expected array"},
      {start_document().with("argv", array({text("x"), nil()})).bytes(), "exec_start.argv[1]"},
      {start_document().with("argv", texts({nul})).bytes(), "exec_start.argv[0]: holds a NUL"},
      {start_document().with("env", array({})).bytes(), "exec_start.env: expected map"},
      {start_document().with("env", map({{number(1), text("x")}})).bytes(), "exec_start.env"},
      {start_document().with("env", map({{text("A"), number(1)}})).bytes(),
       "exec_start.env: \"A\""},
      {start_document().with("env", map({{text("A=B"), text("x")}})).bytes(), "holds '='"},
      {start_document().with("env", map({{text(""), text("x")}})).bytes(), "name is empty"},
      {start_document().with("env", map({{text("A"), text(nul)}})).bytes(), "holds a NUL"},
      {start_document().with("env", map({{text(nul), text("x")}})).bytes(), "holds a NUL"},
      {start_document()
           .with("env", map({{text("A"), text("1")}, {binary("A"), text("2")}}))
           .bytes(),
       "named twice"},
      {start_document().with("cwd", number(1)).bytes(), "exec_start.cwd"},
      {start_document().with("token", number(1)).bytes(), "exec_start.token"},
      {start_document().with("secret", nil()).bytes(), "unknown key \"secret\""},
      {text("start"), "exec_start: expected map"},
  };
  ASSERT_EQ(body_message(start_document().bytes(), decode_exec_start), "decoded");
  for (const auto& [body, token] : rows) {
    EXPECT_THAT(body_message(body, decode_exec_start), HasSubstr(token));
  }
}

TEST(DecodeExecStartTest, LimitsOfAnyTypeAreIgnored) {
  for (const Bytes& limits : {number(1), nil(), map({}), text("x"), array({nil()})}) {
    EXPECT_EQ(body_message(start_document().with("limits", limits).bytes(), decode_exec_start),
              "decoded");
  }
}

TEST(DecodeExecStartTest, ANilPolicyIsNoPolicyAndAnyOtherValueIsHandedOn) {
  const Bytes none = start_document().with("policy", nil()).bytes();
  const Bytes wrong = start_document().with("policy", number(5)).bytes();
  const auto none_tree = parse_value(none);
  const auto wrong_tree = parse_value(wrong);

  EXPECT_EQ(decode_exec_start(*none_tree)->policy, nullptr);
  EXPECT_NE(decode_exec_start(*wrong_tree)->policy, nullptr);
}

TEST(DecodeExecStartTest, MissingArgvAndTokenAreLeftToTheKindsOwnChecks) {
  const auto start = decode_body(map({}), decode_exec_start);

  ASSERT_TRUE(start);
  EXPECT_TRUE(start->argv.empty());
  EXPECT_TRUE(start->token.empty());
}

TEST(DecodeExecStartTest, ANulInTheDirectoryIsLeftToTheStart) {
  const auto start = decode_body(
      start_document().with("cwd", text(std::string_view("/a\0", 3))).bytes(), decode_exec_start);

  ASSERT_TRUE(start);
  EXPECT_EQ(start->cwd.size(), 3U);
}

TEST(DecodeExecStdinTest, DataAndEndAreRead) {
  const Bytes body = Document{{"data", binary("stdin")}, {"eof", boolean(true)}}.bytes();
  const auto tree = parse_value(body);

  const auto input = decode_exec_stdin(*tree);

  ASSERT_TRUE(input);
  EXPECT_EQ(as_text(input->data), "stdin");
  EXPECT_TRUE(input->eof);
}

TEST(DecodeExecStdinTest, NilDataIsEmptyTextIsTakenAndFaultsAreNamed) {
  EXPECT_EQ(body_message(Document{{"data", nil()}}.bytes(), decode_exec_stdin), "decoded");
  EXPECT_EQ(body_message(Document{{"data", text("x")}}.bytes(), decode_exec_stdin), "decoded");
  EXPECT_THAT(body_message(Document{{"data", number(1)}}.bytes(), decode_exec_stdin),
              HasSubstr("exec_stdin.data"));
  EXPECT_THAT(body_message(Document{{"eof", number(1)}}.bytes(), decode_exec_stdin),
              HasSubstr("exec_stdin.eof: expected bool"));
  EXPECT_THAT(body_message(Document{{"end", nil()}}.bytes(), decode_exec_stdin),
              HasSubstr("unknown key \"end\""));
  EXPECT_THAT(body_message(array({binary("x"), boolean(true)}), decode_exec_stdin),
              HasSubstr("expected map"));
}

TEST(DecodeShutdownTest, OnlyAMapWithoutEntriesShutsDown) {
  for (const Bytes& empty : {map({}), raw({0xde, 0, 0}), raw({0xdf, 0, 0, 0, 0})}) {
    EXPECT_EQ(body_message(empty, decode_shutdown), "decoded");
  }
  for (const Bytes& other :
       {nil(), array({}), number(0), Document{{"now", boolean(true)}}.bytes()}) {
    EXPECT_THAT(body_message(other, decode_shutdown), HasSubstr("shutdown"));
  }
}

}  // namespace
}  // namespace loom
