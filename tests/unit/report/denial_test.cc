#include "report/denial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <loom/utf8.h>
#include <loom/value.h>

#include <nlohmann/json.hpp>

#include "report/human_report.h"

namespace loom {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::vector<std::string> kKeys = {
    "v",          "source", "op",        "asked",      "real",  "reason", "evidence", "rule",
    "overridden", "others", "needed_by", "stopped_at", "errno", "limit",  "hint",     "text"};

DenialRule rule() {
  return {.dimension = "exec",
          .layer = 1,
          .list = "exec.deny",
          .index = 4,
          .written = "/x/Bin",
          .real = "/y/\xff",
          .kind = "dir",
          .match = "folded"};
}

Denial full() {
  return {.source = "guard",
          .op = "execute",
          .asked = "/x/\xfe",
          .real = "/y/\xff/t",
          .reason = "excluded_over_allowance",
          .evidence = "both",
          .rule = rule(),
          .overridden = DenialRule{.dimension = "exec",
                                   .layer = 0,
                                   .list = "exec.allow",
                                   .index = 2,
                                   .written = "any",
                                   .real = std::nullopt,
                                   .kind = "any",
                                   .match = "stored"},
          .others = 3,
          .needed_by = NeededBy{.program = "/p", .file = "/f\xff", .role = "linker"},
          .stopped_at = 5,
          .error = 13,
          .limit = "L12",
          .hint = "try \xc3 another",
          .text = "excluded_over_allowance: execute /x/\xfe"};
}

// The record as it is written; `bytes` is what the tree borrows from.
Value written(const Denial& denial, Bytes& bytes) {
  ValueWriter out;
  write_denial(out, denial);
  bytes = out.take();
  auto tree = parse_value(bytes);
  EXPECT_TRUE(tree) << tree.error().message;
  return tree ? *std::move(tree) : Value();
}

std::vector<std::string> keys_of(const Value& map) {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < map.items.size(); i += 2) keys.emplace_back(map.items[i].bytes);
  return keys;
}

TEST(DenialTest, ARecordHasItsSixteenKeysInOrderWhateverIsMissing) {
  for (const Denial& denial : {full(), Denial{}}) {
    Bytes bytes;
    EXPECT_EQ(keys_of(written(denial, bytes)), kKeys);
  }
}

TEST(DenialTest, PathsAreBytesAndTextsAreUtf8) {
  Bytes bytes;
  const Value map = written(full(), bytes);

  EXPECT_EQ(map.find("v")->unsigned_number, 1U);
  for (const auto& [key, path] : {std::pair("asked", "/x/\xfe"), std::pair("real", "/y/\xff/t")}) {
    EXPECT_TRUE(map.find(key)->is(Value::Kind::kBinary));
    EXPECT_EQ(map.find(key)->bytes, path);
  }
  const Value& needed = *map.find("needed_by");
  EXPECT_THAT(keys_of(needed), ElementsAre("program", "file", "role"));
  EXPECT_TRUE(needed.find("file")->is(Value::Kind::kBinary));
  EXPECT_EQ(needed.find("file")->bytes, "/f\xff");
  EXPECT_EQ(needed.find("role")->bytes, "linker");
  for (const char* key : {"source", "op", "reason", "evidence", "limit", "hint", "text"}) {
    EXPECT_TRUE(map.find(key)->is(Value::Kind::kText)) << key;
    EXPECT_TRUE(is_utf8(map.find(key)->bytes)) << key;
  }
  EXPECT_EQ(map.find("evidence")->bytes, "both");
  EXPECT_EQ(map.find("others")->unsigned_number, 3U);
  EXPECT_EQ(map.find("stopped_at")->unsigned_number, 5U);
  EXPECT_EQ(map.find("errno")->unsigned_number, 13U);
}

TEST(DenialTest, ARuleHasItsEightKeysInOrder) {
  Bytes bytes;
  const Value map = written(full(), bytes);

  const Value& deciding = *map.find("rule");
  EXPECT_THAT(keys_of(deciding), ElementsAre("dimension", "layer", "list", "index", "written",
                                             "real", "kind", "match"));
  EXPECT_EQ(deciding.find("dimension")->bytes, "exec");
  EXPECT_EQ(deciding.find("layer")->unsigned_number, 1U);
  EXPECT_EQ(deciding.find("list")->bytes, "exec.deny");
  EXPECT_EQ(deciding.find("index")->unsigned_number, 4U);
  EXPECT_TRUE(deciding.find("written")->is(Value::Kind::kText));
  EXPECT_TRUE(deciding.find("real")->is(Value::Kind::kBinary));
  EXPECT_EQ(deciding.find("real")->bytes, "/y/\xff");
  EXPECT_EQ(deciding.find("kind")->bytes, "dir");
  EXPECT_EQ(deciding.find("match")->bytes, "folded");
  EXPECT_TRUE(map.find("overridden")->find("real")->is(Value::Kind::kNil));
}

TEST(DenialTest, WhatIsNotKnownIsNil) {
  Bytes bytes;
  const Value map = written(Denial{}, bytes);

  for (const char* key : {"real", "evidence", "rule", "overridden", "needed_by", "stopped_at",
                          "errno", "limit", "hint"}) {
    EXPECT_TRUE(map.find(key)->is(Value::Kind::kNil)) << key;
  }
}

TEST(DenialTest, NoTextOrPathIsLongerThanTheCeiling) {
  const std::string large(1 << 20, '\xff');
  Denial denial = full();
  denial.asked = large;
  denial.real = large;
  denial.text = large;
  denial.hint = large;
  denial.rule->written = large;
  denial.rule->real = large;
  denial.needed_by->program = large;
  Bytes bytes;
  const Value map = written(denial, bytes);

  EXPECT_EQ(map.find("asked")->bytes.size(), kMaxDenialText);
  EXPECT_LT(bytes.size(), 32 * kMaxDenialText);
  EXPECT_LT(denial_json(denial).size(), 64 * kMaxDenialText);
}

TEST(DenialTest, JsonHasTheSameKeysInOneLine) {
  Denial denial = full();
  denial.text = "two\nlines";
  const std::string text = denial_json(denial);
  EXPECT_EQ(text.find('\n'), std::string::npos);
  const auto json = nlohmann::ordered_json::parse(text);

  std::vector<std::string> keys;
  for (const auto& item : json.items()) keys.push_back(item.key());
  EXPECT_EQ(keys, kKeys);
  EXPECT_EQ(json["asked"], "/x/\\xfe");
  EXPECT_EQ(json["rule"]["list"], "exec.deny");
  EXPECT_EQ(json["rule"]["real"], "/y/\\xff");
  EXPECT_EQ(json["overridden"]["real"], nullptr);
  EXPECT_EQ(json["needed_by"]["role"], "linker");
  EXPECT_EQ(json["errno"], 13);
  EXPECT_EQ(nlohmann::json::parse(denial_json(Denial{}))["rule"], nullptr);
}

TEST(DenialTest, ALaunchsOwnReasonsBecomeRecords) {
  for (const std::string reason : {"redirected", "raced", "pin_changed", "confinement_unavailable",
                                   "exec_table_too_large", "already_profiled"}) {
    const auto denial = launch_denial(
        Error{.code = ErrorCode::kDenied, .message = reason + ": /x is gone", .sys_errno = 2},
        "make");

    ASSERT_TRUE(denial) << reason;
    EXPECT_EQ(denial->source, "launch");
    EXPECT_EQ(denial->op, "launch");
    EXPECT_EQ(denial->asked, "make");
    EXPECT_EQ(denial->reason, reason);
    EXPECT_EQ(denial->text, reason + ": /x is gone");
    EXPECT_EQ(denial->error, 2);
    EXPECT_EQ(denial->evidence, std::nullopt);
    // Which promise it is, and so what may help, only the message says.
    EXPECT_EQ(denial->hint.has_value(), reason != "confinement_unavailable");
  }
}

TEST(DenialTest, ALaunchsRecordHasAnErrnoOnlyWhereTheKernelSaidOne) {
  const auto denial = launch_denial(
      Error{.code = ErrorCode::kDenied, .message = "pin_changed: bwrap", .sys_errno = 0}, "make");

  ASSERT_TRUE(denial);
  EXPECT_EQ(denial->error, std::nullopt);
}

TEST(DenialTest, NoOtherRefusalOfALaunchIsARecord) {
  for (const std::string message : {"redirected", "redirected /x", "redirectedly: /x",
                                    "bind /x: redirected: y", "", "cwd is not there"}) {
    EXPECT_FALSE(launch_denial(Error{.code = ErrorCode::kDenied, .message = message}, "make"))
        << message;
  }
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(DenialTest, APersonReadsTheSentenceThePathAndTheRules) {
  const std::vector<std::string> lines = lines_of(render_human_denial(full()));

  EXPECT_THAT(lines, Each(StartsWith("loom-exec: ")));
  ASSERT_EQ(lines.size(), 6U);
  EXPECT_THAT(lines[0], HasSubstr("excluded_over_allowance: execute /x/"));
  EXPECT_THAT(lines[1], HasSubstr("/t"));
  EXPECT_THAT(lines[2], AllOf(HasSubstr("exec.deny[4]"), HasSubstr("dir /x/Bin"),
                              HasSubstr("another spelling"), HasSubstr("3 more")));
  EXPECT_THAT(lines[3], AllOf(HasSubstr("exec.allow[2]"), HasSubstr("base policy")));
  EXPECT_THAT(lines[4], AllOf(HasSubstr("linker"), HasSubstr("/p")));
  EXPECT_THAT(lines[5], HasSubstr("another"));
}

TEST(DenialTest, APersonReadsOneLineWhereThatIsAll) {
  const Denial denial{.op = "read",
                      .asked = "/x",
                      .real = "/x",
                      .reason = "not_allowed",
                      .text = "not_allowed: read /x\nforged"};

  const std::string text = render_human_denial(denial);

  EXPECT_EQ(lines_of(text).size(), 1U);
  EXPECT_THAT(text, AllOf(HasSubstr("not_allowed: read /x"), Not(HasSubstr("\nforged"))));
}

}  // namespace
}  // namespace loom
