#include "policy/decode_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <limits>

#include "tests/unit/policy/encoded.h"

namespace loom {
namespace {

using test::array;
using test::binary;
using test::boolean;
using test::Document;
using test::limits_document;
using test::mount_document;
using test::negative;
using test::nil;
using test::number;
using test::policy_document;
using test::real;
using test::text;
using test::texts;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string message_of(const Bytes& document) {
  const auto decoded = decode_policy(document);
  return decoded ? "decoded" : decoded.error().message;
}

Document with_mount(const Document& mount) {
  return policy_document().with("mounts", array({mount.bytes()}));
}

Document with_network(const Document& network) {
  return policy_document().with("network", network.bytes());
}

Document with_limits(const Document& limits) {
  return policy_document().with("limits", limits.bytes());
}

Document proxy_network() {
  return {
      {"mode", text("proxy")}, {"allow", texts({"example.org"})}, {"proxy", text("[::1]:3128")}};
}

// One fault, what the message must contain, and the same document without the fault.
struct Refusal {
  std::string_view fault;
  Document faulty;
  Document cured;
  std::vector<std::string> tokens;
};

void expect_refusals(const std::vector<Refusal>& refusals) {
  for (const Refusal& refusal : refusals) {
    SCOPED_TRACE(refusal.fault);
    EXPECT_EQ(message_of(refusal.cured.bytes()), "decoded");
    const auto decoded = decode_policy(refusal.faulty.bytes());
    ASSERT_FALSE(decoded);
    EXPECT_EQ(decoded.error().code, ErrorCode::kInvalidRequest);
    EXPECT_THAT(decoded.error().message, StartsWith("policy: "));
    for (const std::string& token : refusal.tokens) {
      EXPECT_THAT(decoded.error().message, HasSubstr(token));
    }
  }
}

TEST(PolicyDecodeTest, EveryTruncationIsAnErrorOfDecoding) {
  const Bytes whole = policy_document().bytes();
  ASSERT_EQ(message_of(whole), "decoded");

  for (std::size_t length = 0; length < whole.size(); ++length) {
    SCOPED_TRACE(length);
    EXPECT_THAT(message_of(Bytes(whole.begin(), whole.begin() + static_cast<long>(length))),
                StartsWith("policy: decode"));
  }
}

TEST(PolicyDecodeTest, BytesAfterTheDocumentAreAnErrorOfDecoding) {
  Bytes document = policy_document().bytes();
  document.push_back(std::byte{0xc0});

  EXPECT_THAT(message_of(document), StartsWith("policy: decode"));
}

TEST(PolicyDecodeTest, DuplicateKeysAreAnErrorOfDecodingAtEveryLevel) {
  const Document twice[] = {
      policy_document().with_another("v", number(2)),
      with_limits(limits_document().with_another("pids", number(1))),
      with_network(Document{{"mode", text("off")}, {"mode", text("full")}}),
      with_mount(mount_document("/data", "ro").with_another("access", text("rw"))),
  };
  for (const Document& document : twice) {
    EXPECT_THAT(message_of(document.bytes()), StartsWith("policy: decode"));
  }
}

TEST(PolicyDecodeTest, DeepNestingIsAnErrorOfDecoding) {
  Bytes deep = array({});
  for (int i = 0; i < 400; ++i) deep = array({deep});

  EXPECT_THAT(message_of(policy_document().with("mounts", deep).bytes()),
              StartsWith("policy: decode"));
}

TEST(PolicyDecodeTest, AKeyThatIsNotTextIsAnErrorOfDecoding) {
  const Bytes document = test::map({{number(1), number(2)}});

  EXPECT_THAT(message_of(document), AllOf(StartsWith("policy: decode"), HasSubstr("integer")));
}

TEST(PolicyDecodeTest, ATopLevelThatIsNoMapIsRefusedWithTheTypeFound) {
  EXPECT_THAT(message_of(array({})), AllOf(HasSubstr("expected map"), HasSubstr("array")));
  EXPECT_THAT(message_of(nil()), HasSubstr("expected map"));
  EXPECT_THAT(message_of(text("policy")), AllOf(HasSubstr("expected map"), HasSubstr("string")));
}

TEST(PolicyDecodeTest, UnknownTopLevelKeysAreAllNamedAndSorted) {
  const Bytes document =
      policy_document().with("zeta", nil()).with("alpha", nil()).with("v", number(9)).bytes();

  EXPECT_THAT(message_of(document), HasSubstr("unknown keys \"alpha\", \"zeta\""));
}

TEST(PolicyDecodeTest, EachMissingTopLevelKeyIsNamed) {
  for (const char* key : {"v", "writable_roots", "readable_roots", "protected", "network", "limits",
                          "env_allow", "scratch", "mounts"}) {
    EXPECT_THAT(
        message_of(policy_document().without(key).bytes()),
        AllOf(HasSubstr("missing required key"), HasSubstr("\"" + std::string(key) + "\"")));
  }
}

TEST(PolicyDecodeTest, TheVersionIsTheIntegerTwoOrThreeAndNothingElse) {
  const Document base = policy_document();
  expect_refusals({
      {"text", base.with("v", text("2")), base, {"v: ", "expected integer"}},
      {"float", base.with("v", real(2.0)), base, {"v: ", "float"}},
      {"nil", base.with("v", nil()), base, {"v: "}},
      {"bool", base.with("v", boolean(true)), base, {"v: "}},
      {"one", base.with("v", number(1)), base, {"unsupported version", "1", "2"}},
      {"four", base.with("v", number(4)), base, {"unsupported version", "4", "2 and 3"}},
      {"negative", base.with("v", negative(-2)), base, {"unsupported version", "-2", "negative"}},
  });
}

TEST(PolicyDecodeTest, AWideIntegerFormOfTheVersionIsAccepted) {
  EXPECT_EQ(
      message_of(policy_document().with("v", test::raw({0xd3, 0, 0, 0, 0, 0, 0, 0, 2})).bytes()),
      "decoded");
}

TEST(PolicyDecodeTest, ListsAreArraysOfStrings) {
  const Document base = policy_document();
  for (const char* key : {"writable_roots", "readable_roots", "protected", "env_allow"}) {
    const std::string name = key;
    expect_refusals({
        {"map", base.with(key, test::map({})), base, {name, "expected array", "map"}},
        {"nil", base.with(key, nil()), base, {name, "expected array", "nil"}},
        {"text", base.with(key, text("/a")), base, {name, "expected array"}},
        {"an integer in it",
         base.with(key, array({text("/a"), number(1)})),
         base.with(key, array({text("/a")})),
         {name + "[1]", "expected string", "integer"}},
        {"a nil in it", base.with(key, array({nil()})), base, {name + "[0]", "expected string"}},
    });
  }
}

TEST(PolicyDecodeTest, AStringMayBeBinaryAndNeedsNoUtf8) {
  const auto decoded =
      decode_policy(policy_document()
                        .with("readable_roots", array({binary("/data/\xff"), text("/\xfe")}))
                        .bytes());

  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->readable_roots[0].str(), "/data/\xff");
  EXPECT_EQ(decoded->readable_roots[1].str(), "/\xfe");
}

TEST(PolicyDecodeTest, TheNetworkIsRefusedByName) {
  const Document base = policy_document();
  const Document proxy = with_network(proxy_network());
  expect_refusals({
      {"no map", base.with("network", text("off")), base, {"network: ", "expected map"}},
      {"no mode", with_network({}), base, {"network.mode"}},
      {"mode of the wrong type", with_network({{"mode", number(0)}}), base, {"network.mode"}},
      {"stray key with off",
       with_network({{"mode", text("off")}, {"proxy", text("x")}}),
       base,
       {"unexpected key", "proxy", "off"}},
      {"stray key with full",
       with_network({{"mode", text("full")}, {"allow", texts({})}}),
       with_network({{"mode", text("full")}}),
       {"unexpected key", "allow", "full"}},
      {"unknown key with proxy",
       with_network(proxy_network().with("port", number(1))),
       proxy,
       {"port"}},
      {"allow missing", with_network(proxy_network().without("allow")), proxy, {"network.allow"}},
      {"allow nil", with_network(proxy_network().with("allow", nil())), proxy, {"network.allow"}},
      {"proxy missing", with_network(proxy_network().without("proxy")), proxy, {"network.proxy"}},
      {"proxy no text",
       with_network(proxy_network().with("proxy", number(1))),
       proxy,
       {"network.proxy"}},
      {"host no text",
       with_network(proxy_network().with("allow", array({number(1)}))),
       proxy,
       {"network.allow[0]", "expected string"}},
      {"unknown mode",
       with_network({{"mode", text("tunnel")}}),
       base,
       {"unknown network mode", "tunnel"}},
  });
}

TEST(PolicyDecodeTest, AProxyPolicyKeepsItsListAndAddress) {
  const auto decoded = decode_policy(with_network(proxy_network()).bytes());

  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->network.mode, NetworkMode::kProxy);
  EXPECT_THAT(decoded->network.allow, testing::ElementsAre("example.org"));
  EXPECT_EQ(decoded->network.proxy, "[::1]:3128");
}

TEST(PolicyDecodeTest, LimitsAreSixKeysNoMoreNoLess) {
  const Document base = policy_document();
  expect_refusals({
      {"no map", base.with("limits", nil()), base, {"limits: ", "expected map"}},
      {"unknown",
       with_limits(limits_document().with("disk", number(1))),
       base,
       {"unknown key", "disk"}},
  });
  for (const char* key : {"cpu_s", "wall_s", "mem_bytes", "pids", "fsize_bytes", "output_bytes"}) {
    const std::string name = key;
    const Document all = limits_document();
    expect_refusals({
        {"missing", with_limits(all.without(key)), base, {"missing key", name}},
        {"negative",
         with_limits(all.with(key, negative(-1))),
         base,
         {"limits." + name, "negative"}},
        {"float",
         with_limits(all.with(key, real(1.0))),
         base,
         {"limits." + name, "expected integer"}},
        {"nil", with_limits(all.with(key, nil())), base, {"limits." + name, "expected integer"}},
        {"bool", with_limits(all.with(key, boolean(true))), base, {"limits." + name}},
    });
  }
}

TEST(PolicyDecodeTest, TheLargestLimitIsKeptAndZeroMeansNone) {
  const std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
  const auto decoded = decode_policy(
      with_limits(limits_document().with("cpu_s", number(largest)).with("pids", number(0)))
          .bytes());

  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->limits.cpu_s, largest);
  EXPECT_EQ(decoded->limits.pids, std::nullopt);
  EXPECT_EQ(decoded->limits.wall_s, 120U);
}

TEST(PolicyDecodeTest, ScratchIsTmpfsOrAPathThatIsNotTheRoot) {
  const Document base = policy_document();
  const Document path = base.with("scratch", text("/var/scratch"));
  expect_refusals({
      {"number", base.with("scratch", number(1)), path, {"scratch"}},
      {"nil", base.with("scratch", nil()), path, {"scratch"}},
      {"empty", base.with("scratch", text("")), path, {"scratch"}},
      {"relative", base.with("scratch", text("var/scratch")), path, {"neither", "var/scratch"}},
      {"capitals", base.with("scratch", text("TMPFS")), base, {"neither", "TMPFS"}},
      {"the root", base.with("scratch", text("/")), path, {"scratch", "root"}},
      {"the root by another name", base.with("scratch", text("//x/..")), path, {"scratch", "root"}},
      {"NUL", base.with("scratch", text(std::string_view("/a\0b", 4))), path, {"scratch", "NUL"}},
  });
}

TEST(PolicyDecodeTest, AHostScratchKeepsItsSpellingBesideTheCleanPath) {
  const auto decoded = decode_policy(policy_document().with("scratch", text("/var//s/")).bytes());

  ASSERT_TRUE(decoded);
  ASSERT_FALSE(decoded->scratch.is_tmpfs());
  EXPECT_EQ(decoded->scratch.host_path->str(), "/var/s");
  EXPECT_EQ(decoded->scratch.written, "/var//s/");
}

TEST(PolicyDecodeTest, AMountIsThreeKeysOfTheRightType) {
  const Document base = policy_document();
  const Document mount = mount_document("/data", "ro");
  const Document good = with_mount(mount);
  expect_refusals({
      {"list no array", base.with("mounts", test::map({})), good, {"mounts: expected array"}},
      {"element no map",
       base.with("mounts", array({text("/data")})),
       good,
       {"mounts[0]", "expected map"}},
      {"unknown keys",
       with_mount(mount.with("z", nil()).with("b", nil())),
       good,
       {"mounts[0]", "unknown keys \"b\", \"z\""}},
      {"no path", with_mount(mount.without("path")), good, {"missing required key", "path"}},
      {"no access", with_mount(mount.without("access")), good, {"missing required key", "access"}},
      {"no required",
       with_mount(mount.without("required")),
       good,
       {"missing required key", "required"}},
      {"path no text", with_mount(mount.with("path", nil())), good, {"path", "expected string"}},
      {"path empty", with_mount(mount.with("path", text(""))), good, {"not absolute"}},
      {"path relative",
       with_mount(mount.with("path", text("data"))),
       good,
       {"not absolute", "data"}},
      {"path with NUL",
       with_mount(mount.with("path", text(std::string_view("/d\0", 3)))),
       good,
       {"mounts[0].path", "NUL"}},
      {"access unknown", with_mount(mount.with("access", text("rx"))), good, {"neither", "rx"}},
      {"access no text", with_mount(mount.with("access", number(1))), good, {"neither", "access"}},
      {"required no bool",
       with_mount(mount.with("required", number(1))),
       good,
       {"required", "expected bool"}},
      {"required nil",
       with_mount(mount.with("required", nil())),
       good,
       {"required", "expected bool"}},
  });
}

TEST(PolicyDecodeTest, ANilMountListIsEmpty) {
  const auto decoded = decode_policy(policy_document().with("mounts", nil()).bytes());

  ASSERT_TRUE(decoded);
  EXPECT_TRUE(decoded->mounts.empty());
}

TEST(PolicyDecodeTest, EveryPathListHoldsAbsolutePathsWithoutNul) {
  const Document base = policy_document();
  for (const char* key : {"writable_roots", "readable_roots", "protected"}) {
    const std::string name = key;
    expect_refusals({
        {"relative",
         base.with(key, texts({"/a", "b"})),
         base,
         {name + "[1]", "not absolute", "\"b\""}},
        {"empty", base.with(key, texts({""})), base, {name + "[0]", "not absolute"}},
        {"NUL", base.with(key, texts({std::string_view("/a\0b", 4)})), base, {name, "NUL", "x00"}},
    });
  }
}

TEST(PolicyDecodeTest, EveryTypeIsCheckedBeforeTheFirstPath) {
  const Document two_faults =
      policy_document().with("writable_roots", texts({"relative"})).with("scratch", number(1));

  EXPECT_THAT(message_of(two_faults.bytes()),
              AllOf(HasSubstr("scratch"), Not(HasSubstr("not absolute"))));
}

// cases.md 83
TEST(PolicyDecodeTest, AMountPathIsWrittenPlainly) {
  const Document good = with_mount(mount_document("/data/set", "ro"));
  expect_refusals({
      {"slash", with_mount(mount_document("/data/", "ro")), good, {"/data/", "ends in a slash"}},
      {"two slashes", with_mount(mount_document("//", "ro")), good, {"ends in a slash"}},
      {"dots", with_mount(mount_document("/data/../etc", "ro")), good, {"segment", "/data/../etc"}},
      {"dots at the end", with_mount(mount_document("/data/..", "ro")), good, {"segment"}},
      {"more dots are a name",
       with_mount(mount_document("/data/..", "ro")),
       with_mount(mount_document("/data/...", "ro")),
       {"segment"}},
  });
}

// cases.md 83
TEST(PolicyDecodeTest, APathIsMountedOnce) {
  const auto mounts = [](std::string_view first, std::string_view second) {
    return policy_document().with("mounts", array({mount_document(first, "ro").bytes(),
                                                   mount_document(second, "rw").bytes()}));
  };
  expect_refusals({
      {"whatever the access",
       mounts("/data", "/data"),
       mounts("/data", "/data2"),
       {"named twice", "/data"}},
      {"whatever the spelling",
       mounts("/data", "//data"),
       mounts("/data", "/data/in"),
       {"named twice"}},
      {"a dot segment", mounts("/data", "/./data"), mounts("/data", "/.data"), {"named twice"}},
  });
}

// cases.md 83
TEST(PolicyDecodeTest, MountsAndProtectedEntriesKeepApart) {
  const auto pair = [](std::string_view mount, std::string_view entry) {
    return policy_document()
        .with("writable_roots", texts({}))
        .with("protected", texts({"/unrelated", entry, "/zz"}))
        .with("mounts", array({mount_document(mount, "rw").bytes()}));
  };
  const Document good = pair("/srv/data", "/srv/data2");
  expect_refusals({
      {"equal", pair("/srv/data", "/srv/data"), good, {"overlaps protected path", "/srv/data"}},
      {"mount above",
       pair("/srv", "/srv/data"),
       good,
       {"\"/srv\"", "overlaps protected path \"/srv/data\""}},
      {"mount below",
       pair("/srv/data/in", "/srv/data"),
       good,
       {"overlaps protected path \"/srv/data\""}},
      {"root mount", pair("/", "/srv/data"), good, {"overlaps protected path"}},
      {"root entry", pair("/srv", "/"), good, {"overlaps protected path \"/\""}},
      {"trailing slash",
       pair("/srv/data/in", "/srv/data/"),
       good,
       {"overlaps protected path \"/srv/data/\""}},
      {"behind a sibling that sorts between",
       pair("/a/b", "/a"),
       pair("/a-b", "/a"),
       {"overlaps protected path \"/a\""}},
  });
}

// cases.md 84
TEST(PolicyDecodeTest, AReadOnlyMountDoesNotCoverAWritableRoot) {
  const auto pair = [](std::string_view mount, std::string_view access, std::string_view root) {
    return policy_document()
        .with("protected", texts({}))
        .with("writable_roots", texts({"/elsewhere", root}))
        .with("mounts", array({mount_document(mount, access).bytes()}));
  };
  const std::string both = "read-only path \"/home/o\" covers writable root \"/home/o/work\"";
  expect_refusals({
      {"above",
       pair("/home/o", "ro", "/home/o/work"),
       pair("/home/o", "rw", "/home/o/work"),
       {both}},
      {"equal",
       pair("/work", "ro", "/work"),
       pair("/work", "rw", "/work"),
       {"read-only path \"/work\""}},
      {"root", pair("/", "ro", "/work"), pair("/", "rw", "/work"), {"read-only path \"/\""}},
      {"sibling", pair("/home/o", "ro", "/home/o/work"), pair("/home/o", "ro", "/home/ox"), {both}},
      {"below is fine",
       pair("/work", "ro", "/work"),
       pair("/work/seed", "ro", "/work"),
       {"covers"}},
  });
}

TEST(PolicyDecodeTest, TheOverlapComesBeforeTheCover) {
  const Document both = policy_document()
                            .with("protected", texts({"/srv/p"}))
                            .with("writable_roots", texts({"/srv/w"}))
                            .with("mounts", array({mount_document("/srv", "ro").bytes()}));

  EXPECT_THAT(message_of(both.bytes()), HasSubstr("overlaps protected path"));
}

TEST(PolicyDecodeTest, ScratchIsNoWritableRootForTheCoverRule) {
  EXPECT_EQ(message_of(policy_document()
                           .with("scratch", text("/srv/scratch"))
                           .with("mounts", array({mount_document("/srv", "ro").bytes()}))
                           .bytes()),
            "decoded");
}

TEST(PolicyDecodeTest, AMessageShowsHostileBytesEscaped) {
  const std::string message = message_of(policy_document().with("a\n\xff\"", nil()).bytes());

  EXPECT_THAT(message, HasSubstr("\\x0a\\xff"));
  EXPECT_THAT(message, Not(HasSubstr("\n")));
}

TEST(PolicyDecodeTest, TensOfThousandsOfMountsAndProtectedPathsDecodeInTime) {
  std::vector<Bytes> mounts;
  std::vector<Bytes> entries;
  for (int i = 0; i < 20'000; ++i) {
    mounts.push_back(mount_document("/m/" + std::to_string(i), "ro").bytes());
    entries.push_back(text("/p/" + std::to_string(i)));
  }
  const Document many =
      policy_document().with("mounts", array(mounts)).with("protected", array(entries));

  const auto before = std::chrono::steady_clock::now();
  EXPECT_EQ(message_of(many.bytes()), "decoded");
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(20));
}

TEST(PolicyDecodeTest, ListsKeepTheirOrder) {
  const auto decoded =
      decode_policy(policy_document().with("env_allow", texts({"Z", "A", "Z", ""})).bytes());

  ASSERT_TRUE(decoded);
  EXPECT_THAT(decoded->env_allow, testing::ElementsAre("Z", "A", "Z", ""));
}

}  // namespace
}  // namespace loom
