#include "policy/decode_exec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policy/decode_policy.h"
#include "tests/unit/policy/encoded.h"

namespace loom {
namespace {

using test::array;
using test::binary;
using test::boolean;
using test::Document;
using test::exec_document;
using test::exec_entry;
using test::nil;
using test::number;
using test::policy_document;
using test::text;
using test::texts;
using test::version_3_document;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

using namespace std::string_literals;

std::string message_of(const Document& document) {
  const auto decoded = decode_policy(document.bytes());
  EXPECT_TRUE(decoded || decoded.error().code == ErrorCode::kInvalidRequest);
  return decoded ? "decoded" : decoded.error().message;
}

std::string message_of_exec(const Document& exec) {
  return message_of(version_3_document(exec.bytes()));
}

Bytes entries(const std::vector<Document>& documents) {
  std::vector<Bytes> encoded;
  for (const Document& document : documents) encoded.push_back(document.bytes());
  return array(encoded);
}

std::string message_of_allowed(const Document& entry) {
  return message_of_exec(exec_document().with("allow", entries({entry})));
}

struct Refusal {
  std::string_view fault;
  std::string message;
  std::vector<std::string> tokens;
};

void expect_refusals(const std::vector<Refusal>& refusals) {
  for (const Refusal& refusal : refusals) {
    SCOPED_TRACE(refusal.fault);
    EXPECT_THAT(refusal.message, StartsWith("policy: "));
    for (const std::string& token : refusal.tokens) {
      EXPECT_THAT(refusal.message, HasSubstr(token));
    }
  }
}

// guard 9.9: 163, 164
TEST(ExecDecodeTest, AVersion2DocumentKnowsNoExecKey) {
  const auto decoded = decode_policy(policy_document().bytes());
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->version, 2U);
  EXPECT_FALSE(decoded->exec);

  EXPECT_EQ(message_of(policy_document().with("exec", nil())), "policy: unknown keys \"exec\"");
  EXPECT_EQ(message_of(policy_document().with("exec", exec_document().bytes())),
            "policy: unknown keys \"exec\"");
}

// guard 9.9: 165
TEST(ExecDecodeTest, AVersion3DocumentNeedsTheExecKeyAndTheOtherNine) {
  ASSERT_EQ(message_of(version_3_document(nil())), "decoded");

  EXPECT_EQ(message_of(policy_document().with("v", number(3))),
            "policy: missing required key \"exec\"");
  EXPECT_EQ(message_of(version_3_document(nil()).without("mounts")),
            "policy: missing required key \"mounts\"");
  EXPECT_EQ(message_of(version_3_document(nil()).with("mor", nil())),
            "policy: unknown keys \"mor\"");
}

// guard 9.9: 166
TEST(ExecDecodeTest, NilIsNoOpinion) {
  const auto decoded = decode_policy(version_3_document(nil()).bytes());

  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(decoded->version, 3U);
  EXPECT_FALSE(decoded->exec);
}

// guard 9.9: 173
TEST(ExecDecodeTest, AnUnknownVersionIsRefusedForThatWithEveryNumberNamed) {
  for (const Document& document :
       {policy_document().with("v", number(4)), version_3_document(nil()).with("v", number(4))}) {
    EXPECT_THAT(message_of(document),
                AllOf(HasSubstr("unsupported version 4"), HasSubstr("2 and 3")));
  }
}

TEST(ExecDecodeTest, ATableIsKeptAsItIsWritten) {
  const Document exec =
      exec_document()
          .with("default", text("allow"))
          .with("allow", entries({exec_entry("file", "/b"), exec_entry("dir", "/a")}))
          .with("deny", entries({exec_entry("name", "curl"), exec_entry("dir", "/a/x")}))
          .with("support", text("none"))
          .with("memfd", text("any"))
          .with("required", boolean(false));

  const auto decoded = decode_policy(version_3_document(exec.bytes()).bytes());

  ASSERT_TRUE(decoded) << decoded.error().message;
  const ExecPolicy wanted{
      .allow_by_default = true,
      .allow = {{ExecEntryKind::kFile, "/b"}, {ExecEntryKind::kDirectory, "/a"}},
      .deny = {{ExecEntryKind::kName, "curl"}, {ExecEntryKind::kDirectory, "/a/x"}},
      .system_support = false,
      .memfd_noexec = false,
      .required = false};
  EXPECT_EQ(decoded->exec, wanted);
}

TEST(ExecDecodeTest, ExecIsNilOrAMap) {
  for (const Bytes& exec : {array({}), text("deny"), boolean(false), number(0)}) {
    EXPECT_THAT(message_of(version_3_document(exec)), HasSubstr("exec: expected map"));
  }
  // Nil, the empty map and a missing key are three things.
  EXPECT_THAT(message_of_exec({}), HasSubstr("exec: missing required key \"default\""));
}

// guard 9.9: 167
TEST(ExecDecodeTest, TheTableHasSixKeysNoMoreNoLess) {
  EXPECT_EQ(message_of_exec(exec_document().with("zeal", nil()).with("depth", number(1))),
            "policy: exec: unknown keys \"depth\", \"zeal\"");
  for (const std::string key : {"default", "allow", "deny", "support", "memfd", "required"}) {
    EXPECT_EQ(message_of_exec(exec_document().without(key)),
              "policy: exec: missing required key \"" + key + "\"");
  }
}

TEST(ExecDecodeTest, WordsAreOfTheGivenTwo) {
  for (const std::string key : {"default", "support", "memfd"}) {
    for (const auto& [value, shown] :
         {std::pair(text("perhaps"), "\"perhaps\""), std::pair(nil(), "nil"),
          std::pair(text(""), "\"\""), std::pair(number(1), "integer")}) {
      EXPECT_THAT(message_of_exec(exec_document().with(key, value)),
                  AllOf(HasSubstr("exec." + key + ": "), HasSubstr("neither"), HasSubstr(shown)));
    }
  }
  EXPECT_EQ(message_of_exec(exec_document().with("default", binary("allow"))), "decoded");
}

TEST(ExecDecodeTest, RequiredIsABoolean) {
  EXPECT_THAT(message_of_exec(exec_document().with("required", number(1))),
              HasSubstr("exec.required: expected bool"));
}

TEST(ExecDecodeTest, ListsAreArraysOfAtMost256Entries) {
  std::vector<Document> many;
  for (int i = 0; i < 256; ++i) many.push_back(exec_entry("name", "n" + std::to_string(i)));
  for (const std::string key : {"allow", "deny"}) {
    EXPECT_EQ(message_of_exec(exec_document().with(key, entries(many))), "decoded");
    EXPECT_THAT(message_of_exec(exec_document().with(key, nil())),
                HasSubstr("exec." + key + ": expected array"));
    auto more = many;
    more.push_back(exec_entry("name", "one-more"));
    EXPECT_THAT(message_of_exec(exec_document().with(key, entries(more))),
                AllOf(HasSubstr("exec." + key + ": too many"), HasSubstr("257")));
  }
}

TEST(ExecDecodeTest, AnEntryIsAMapOfTwoKeys) {
  const Document sound = exec_entry("dir", "/x");
  ASSERT_EQ(message_of_allowed(sound), "decoded");
  expect_refusals({
      {"no map",
       message_of_exec(exec_document().with("deny", texts({"/x"}))),
       {"exec.deny[0]: ", "expected map"}},
      {"stray keys",
       message_of_allowed(sound.with("b", nil()).with("a", nil())),
       {"exec.allow[0]: ", "unknown keys \"a\", \"b\""}},
      {"no kind",
       message_of_allowed(sound.without("kind")),
       {"exec.allow[0]: ", "missing required key \"kind\""}},
      {"no value",
       message_of_allowed(sound.without("value")),
       {"exec.allow[0]: ", "missing required key \"value\""}},
      {"the second",
       message_of_exec(exec_document().with("deny", array({sound.bytes(), number(3)}))),
       {"exec.deny[1]: ", "expected map"}},
  });
}

// guard 9.9: 168
TEST(ExecDecodeTest, AnUnknownKindIsNamed) {
  expect_refusals({
      {"glob",
       message_of_allowed(exec_entry("glob", "/x/*")),
       {"exec.allow[0].kind: ", "unknown kind", "\"glob\""}},
      {"case", message_of_allowed(exec_entry("Dir", "/x")), {"unknown kind", "\"Dir\""}},
      {"type",
       message_of_allowed(exec_entry("dir", "/x").with("kind", number(1))),
       {"unknown kind", "integer"}},
  });
}

// guard 9.9: 169
TEST(ExecDecodeTest, AnAllowedPathIsWrittenPlainly) {
  const std::string component(255, 'c');
  std::string longest;
  while (longest.size() + 256 <= 4095) longest += "/" + component;
  longest += "/" + std::string(4095 - longest.size() - 1, 'd');
  for (const std::string& kind : {"dir"s, "file"s}) {
    SCOPED_TRACE(kind);
    const auto of = [&](std::string_view value) {
      return message_of_allowed(exec_entry(kind, value));
    };
    for (const std::string& sound : {"/x"s, "/x/..y"s, "/x/.y/z."s, "/\xff"s, longest}) {
      EXPECT_EQ(of(sound), "decoded");
    }
    const std::string place = "exec.allow[0].value: ";
    expect_refusals({
        {"relative", of("x"), {place, "\"x\"", "not absolute"}},
        {"empty", of(""), {place, "\"\"", "not absolute"}},
        {"root", of("/"), {place, "not allowed here", "default"}},
        {"slash", of("/x/"), {place, "\"/x/\"", "ends in a slash"}},
        {"two slashes", of("//"), {place, "ends in a slash"}},
        {"empty segment", of("/x//y"), {place, "\"/x//y\"", "segment"}},
        {"dot", of("/x/./y"), {place, "\"/x/./y\"", "segment"}},
        {"dot at the end", of("/x/."), {place, "segment"}},
        {"two dots", of("/x/../y"), {place, "\"/x/../y\"", "segment"}},
        {"two dots at the end", of("/x/.."), {place, "segment"}},
        {"long component", of("/" + component + "c"), {place, "segment", "too long"}},
        {"long path", of(longest + "d"), {place, "too long"}},
        {"NUL", of("/x\0y"s), {place, "expected string", "NUL"}},
    });
  }
  EXPECT_THAT(message_of_allowed(exec_entry("dir", "/x").with("value", nil())),
              HasSubstr("exec.allow[0].value: expected string"));
}

// guard 9.9: 170
TEST(ExecDecodeTest, ANameIsOneComponent) {
  const auto of = [](std::string_view value) {
    return message_of_exec(exec_document().with("deny", entries({exec_entry("name", value)})));
  };
  for (const std::string& sound :
       {"curl"s, "..."s, ".x"s, "g++"s, "\xff"s, std::string(255, 'n')}) {
    EXPECT_EQ(of(sound), "decoded");
  }
  for (const std::string& unsound :
       {"a/b"s, "/"s, ""s, "."s, ".."s, std::string(256, 'n'), "a b"s, "a\n"s, "\x7f"s, "a\tb"s}) {
    EXPECT_THAT(of(unsound), AllOf(HasSubstr("exec.deny[0].value: "), HasSubstr("not a name")));
  }
  EXPECT_THAT(of("a\0b"s), HasSubstr("expected string"));
}

// guard 9.9: 171
TEST(ExecDecodeTest, AnEntryStandsOnceInBothListsTogether) {
  const Document dir = exec_entry("dir", "/x");
  const Document other = exec_entry("dir", "/y");
  const Document name = exec_entry("name", "x");
  expect_refusals({
      {"one list",
       message_of_exec(exec_document().with("deny", entries({dir, other, dir}))),
       {"exec.deny[0]", "exec.deny[2]", "named twice"}},
      {"both lists",
       message_of_exec(
           exec_document().with("allow", entries({other, name})).with("deny", entries({name}))),
       {"exec.allow[1]", "exec.deny[0]", "allowed and denied"}},
  });
  // Another kind, or another spelling, is another entry.
  EXPECT_EQ(message_of_exec(exec_document()
                                .with("allow", entries({dir, exec_entry("file", "/x")}))
                                .with("deny", entries({exec_entry("dir", "/X")}))),
            "decoded");
}

TEST(ExecDecodeTest, NothingProtectedIsAllowed) {
  const auto of = [](std::string_view kind, std::string_view value) {
    return message_of(version_3_document(
                          exec_document().with("allow", entries({exec_entry(kind, value)})).bytes())
                          .with("protected", texts({"/p/secret/"})));
  };
  expect_refusals({
      {"itself", of("file", "/p/secret"), {"\"/p/secret\"", "\"/p/secret/\"", "protected"}},
      {"beneath", of("dir", "/p/secret/x/y"), {"\"/p/secret/x/y\"", "protected"}},
  });
  EXPECT_EQ(of("dir", "/p"), "decoded");
  EXPECT_EQ(of("dir", "/p/secrets"), "decoded");
  EXPECT_EQ(of("name", "secret"), "decoded");
  EXPECT_EQ(message_of(
                version_3_document(
                    exec_document().with("deny", entries({exec_entry("dir", "/p/secret")})).bytes())
                    .with("protected", texts({"/p/secret"}))),
            "decoded");
}

// guard 9.9: 172
TEST(ExecDecodeTest, AnAllowanceUnderAnExcludedDirectoryIsAccepted) {
  EXPECT_EQ(message_of_exec(exec_document()
                                .with("allow", entries({exec_entry("dir", "/x/y")}))
                                .with("deny", entries({exec_entry("dir", "/x")}))),
            "decoded");
}

TEST(ExecDecodeTest, EachRuleIsHeldAgainstTheWholeTableBeforeTheNext) {
  const Document late = exec_entry("dir", "x");     // row 44
  const Document early = exec_entry("glob", "/x");  // row 42
  EXPECT_THAT(message_of_exec(
                  exec_document().with("allow", entries({late})).with("deny", entries({early}))),
              HasSubstr("exec.deny[0].kind: unknown kind"));
  EXPECT_THAT(
      message_of_exec(exec_document().with("allow", entries({late})).with("required", nil())),
      HasSubstr("exec.required: expected bool"));
}

TEST(ExecDecodeTest, OfTwoFaultsOfOneRuleThatOfTheAllowancesIsNamed) {
  const Bytes unsound = entries({exec_entry("dir", "x")});
  EXPECT_THAT(message_of_exec(exec_document().with("deny", unsound).with("allow", unsound)),
              HasSubstr("exec.allow[0].value: "));
}

TEST(ExecDecodeTest, TheOtherNineKeysAreJudgedFirst) {
  EXPECT_THAT(message_of(version_3_document(number(1)).with("readable_roots", texts({"x"}))),
              HasSubstr("not absolute"));
}

TEST(ExecDecodeTest, DuplicateKeysAreRefusedAtEveryLevel) {
  EXPECT_THAT(message_of_exec(exec_document().with_another("memfd", text("any"))),
              HasSubstr("decode"));
  EXPECT_THAT(message_of_allowed(exec_entry("dir", "/x").with_another("value", text("/y"))),
              HasSubstr("decode"));
}

TEST(ExecDecodeTest, AMessageShowsHostileBytesEscaped) {
  EXPECT_THAT(message_of_allowed(exec_entry("dir", "a\x1b[2J\n")),
              AllOf(HasSubstr("\\x1b"), Not(HasSubstr("\n"))));
}

}  // namespace
}  // namespace loom
