#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <loom/codec.h>
#include <loom/value.h>

#include <functional>
#include <string>

namespace loom {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// Pieces, with every part of its encoding open to change.
Bytes pieces_map(const std::function<void(ValueWriter&)>& fields, std::size_t count) {
  ValueWriter out;
  out.map(count);
  fields(out);
  return out.take();
}

void put(ValueWriter& out, std::string_view key, std::string_view value) {
  out.text(key);
  out.text(value);
}

void put_version(ValueWriter& out, std::uint64_t version) {
  out.text("v");
  out.number(version);
}

TEST(CodecTest, TheEncodingIsAVersionedMapInTheOrderOfTheStruct) {
  const Bytes expected = pieces_map(
      [](ValueWriter& out) {
        put_version(out, 1);
        put(out, "launcher", "bwrap");
        put(out, "stage2", "bwrap-stage2");
      },
      3);

  EXPECT_EQ(encode(Pieces{.launcher = "bwrap", .stage2 = "bwrap-stage2"}), expected);
}

TEST(CodecTest, KeysMayComeInAnyOrder) {
  const Bytes input = pieces_map(
      [](ValueWriter& out) {
        put(out, "stage2", "s");
        put(out, "launcher", "l");
        put_version(out, 1);
      },
      3);

  const auto decoded = decode_pieces(input);

  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(*decoded, (Pieces{.launcher = "l", .stage2 = "s"}));
}

TEST(CodecTest, EachRefusalNamesTheKey) {
  using Fields = std::function<void(ValueWriter&)>;
  const struct {
    const char* name;
    std::size_t count;
    Fields fields;
    const char* message;
  } kCases[] = {
      {"no version", 2,
       [](ValueWriter& out) {
         put(out, "launcher", "");
         put(out, "stage2", "");
       },
       "pieces: v: missing key"},
      {"newer version", 3,
       [](ValueWriter& out) {
         put_version(out, 2);
         put(out, "launcher", "");
         put(out, "teleport", "");
       },
       "pieces: v: unsupported version 2, this side knows 1"},
      {"version of another type", 3,
       [](ValueWriter& out) {
         put(out, "v", "1");
         put(out, "launcher", "");
         put(out, "stage2", "");
       },
       "pieces: v: expected integer, found string"},
      {"unknown key", 4,
       [](ValueWriter& out) {
         put_version(out, 1);
         put(out, "launcher", "");
         put(out, "stage2", "");
         put(out, "teleport", "");
       },
       "pieces: teleport: unknown key"},
      {"missing key", 2,
       [](ValueWriter& out) {
         put_version(out, 1);
         put(out, "launcher", "");
       },
       "pieces: stage2: missing key"},
      {"wrong type", 3,
       [](ValueWriter& out) {
         put_version(out, 1);
         put(out, "launcher", "");
         out.text("stage2");
         out.number(7);
       },
       "pieces: stage2: expected string, found integer"},
      {"key that is not a string", 4,
       [](ValueWriter& out) {
         put_version(out, 1);
         put(out, "launcher", "");
         put(out, "stage2", "");
         out.number(1);
         out.nil();
       },
       "pieces: a key is not a string"},
  };
  for (const auto& [name, count, fields, message] : kCases) {
    SCOPED_TRACE(name);
    const auto decoded = decode_pieces(pieces_map(fields, count));

    ASSERT_FALSE(decoded);
    EXPECT_EQ(decoded.error().code, ErrorCode::kInvalidRequest);
    EXPECT_EQ(decoded.error().message, message);
  }
}

TEST(CodecTest, ARefusalDeepInsideSaysWhere) {
  Policy policy;
  policy.mounts.push_back({.path = AbsolutePath::root()});
  policy.mounts.push_back({.path = *AbsolutePath::parse("/srv")});
  Bytes input = encode(SurveyRequest{.policy = policy});
  const std::string text(as_text(input));
  // The same length, no longer absolute.
  input[text.find("/srv")] = static_cast<std::byte>('x');

  const auto decoded = decode_survey_request(input);

  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().message, "survey request: policy.mounts[1].path: path is not absolute");
}

TEST(CodecTest, APathInAnotherSpellingIsRefused) {
  Bytes input = encode(Survey{.search_excluded = {*AbsolutePath::parse("/srv/x/y")}});
  const std::string text(as_text(input));
  input[text.find("/x/y") + 1] = static_cast<std::byte>('.');

  const auto decoded = decode_survey(input);

  ASSERT_FALSE(decoded);
  EXPECT_THAT(decoded.error().message, HasSubstr("search_excluded[0]"));
  EXPECT_THAT(decoded.error().message, HasSubstr("normal form"));
}

TEST(CodecTest, AnUnknownEnumeratorIsRefused) {
  ValueWriter out;
  out.map(5);
  put_version(out, 1);
  out.text("rung");
  out.number(3);
  out.text("child");
  out.number(1);
  out.text("launched");
  out.boolean(false);
  out.text("table");
  out.array(0);

  const auto decoded = decode_targets_request(out.bytes());

  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().message, "targets request: rung: unknown enumerator 3");
}

TEST(CodecTest, ANumberThatDoesNotFitIsRefused) {
  const auto trial = [](std::function<void(ValueWriter&)> code) {
    ValueWriter out;
    out.map(4);
    put_version(out, 1);
    out.text("code");
    code(out);
    out.text("timed_out");
    out.boolean(true);
    put(out, "output", "");
    return out.take();
  };

  EXPECT_TRUE(decode_trial_result(trial([](auto& out) { out.signed_number(-2147483648); })));
  EXPECT_FALSE(decode_trial_result(trial([](auto& out) { out.signed_number(-2147483649); })));
  EXPECT_TRUE(decode_trial_result(trial([](auto& out) { out.number(2147483647); })));
  EXPECT_FALSE(decode_trial_result(trial([](auto& out) { out.number(2147483648); })));
}

TEST(CodecTest, ArgumentsThatAreNotUtf8Survive) {
  const LaunchSpec launch{.argv = {"printf", "\xFF\xFE", std::string("a\0b", 3)}};

  const auto decoded = decode_launch_spec(encode(launch));

  ASSERT_TRUE(decoded);
  EXPECT_EQ(*decoded, launch);
}

PlanRequest exec_request() {
  const AbsolutePath sh = *AbsolutePath::parse("/usr/bin/sh");
  ExecRule rule{.scope = ExecScope::kDirectory,
                .real = *AbsolutePath::parse("/srv/bin"),
                .name = {},
                .written = "/link/\xFF",
                .identity = {.device = 1, .inode = 2},
                .parent_identity = {.device = 3, .inode = 4}};
  ExecRule name{.scope = ExecScope::kName, .real = AbsolutePath::root(), .name = "curl"};
  PlanRequest request;
  request.policy.version = 3;
  request.policy.exec =
      ExecPolicy{.allow = {{.kind = ExecEntryKind::kName, .value = "sh"}}, .system_support = false};
  request.command.program = AdmittedProgram{.real = sh, .identity = {.device = 5, .inode = 6}};
  request.exec = ExecRules{.restrictive = true,
                           .required = false,
                           .memfd_noexec = false,
                           .scratch_runs = true,
                           .allow = {std::move(rule)},
                           .deny = {std::move(name)},
                           .support = {sh}};
  return request;
}

TEST(CodecTest, AnExecTableArrivesWholeAndSoDoesItsAbsence) {
  const PlanRequest request = exec_request();

  const auto decoded = decode_plan_request(encode(request));
  const auto without = decode_plan_request(encode(PlanRequest{}));

  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(*decoded, request);
  ASSERT_TRUE(without);
  EXPECT_EQ(without->exec, std::nullopt);
  EXPECT_EQ(without->command.program, std::nullopt);
}

TEST(CodecTest, AProgramBehindARelativePathIsRefused) {
  Bytes input = encode(exec_request());
  const std::string text(as_text(input));
  input[text.find("/srv/bin")] = static_cast<std::byte>('x');

  const auto decoded = decode_plan_request(input);

  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().message, "plan request: exec.allow[0].real: path is not absolute");
}

TEST(CodecTest, WhatStartHandsOverComesBackAsItWent) {
  const StartResult started{
      .entries = {"x"}, .exec_rules = 2'147'483'647, .exec_entry = "exec-landlock:rules=1"};
  const ExecObject object{.handle = 12, .directory = true, .listed = UINT64_MAX, .support = 1};

  EXPECT_EQ(*decode_start_result(encode(started)), started);
  EXPECT_EQ(decode_start_result(encode(StartResult{}))->exec_rules, -1);
  EXPECT_EQ(*decode_exec_object(encode(object)), object);
  EXPECT_EQ(decode_exec_object(encode(ExecObject{}))->handle, -1);
  EXPECT_TRUE(decode_launch_spec(encode(LaunchSpec{.wants_exec_rules = true}))->wants_exec_rules);
  EXPECT_FALSE(decode_launch_spec(encode(LaunchSpec{}))->wants_exec_rules);
}

TEST(CodecTest, AListOfStructsAsAListOfListsIsRefused) {
  ValueWriter out;
  out.array(2);
  out.text("bwrap");
  out.text("stage2");

  const auto decoded = decode_pieces(out.bytes());

  ASSERT_FALSE(decoded);
  EXPECT_THAT(decoded.error().message, StartsWith("pieces: expected map, found array"));
}

TEST(CodecTest, AnUnknownKeyIsPrintedHarmlessly) {
  ValueWriter out;
  out.map(2);
  put_version(out, 1);
  put(out, std::string(5000, 'x') + "\x1B[2J", "");

  const auto decoded = decode_start_result(out.bytes());

  ASSERT_FALSE(decoded);
  EXPECT_LT(decoded.error().message.size(), 400u);
}

}  // namespace
}  // namespace loom
