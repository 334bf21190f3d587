#include "profile_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "mac_jail.h"
#include "model_tree.h"

namespace loom::seatbelt::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<Profile> parsed(const std::string& rules, const Definitions& definitions = {}) {
  return Profile::parse("(version 1)\n(deny default)\n" + rules + '\n', definitions);
}

Profile profile(const std::string& rules, const Definitions& definitions = {}) {
  auto made = parsed(rules, definitions);
  EXPECT_TRUE(made.has_value()) << (made ? "" : made.error().message);
  return made ? *std::move(made) : Profile{};
}

std::string refusal(const std::string& rules, const Definitions& definitions = {}) {
  const auto made = parsed(rules, definitions);
  EXPECT_FALSE(made.has_value()) << rules;
  return made ? std::string() : made.error().message;
}

bool allows(const Profile& profile, Operation operation, const std::string& path,
            Vnode vnode = Vnode::kRegular) {
  return profile.allows({.operation = operation, .path = path, .vnode = vnode});
}

Answer answer(const Profile& profile, Operation operation, const std::string& path) {
  return profile.answer({.operation = operation, .path = path});
}

// --- what it decides
// ------------------------------------------------------------------------------

TEST(ProfileReaderTest, WhatNoRuleAllowsIsDenied) {
  const Profile empty = profile("(allow sysctl-read)");

  EXPECT_TRUE(empty.denies({.operation = Operation::kReadData, .path = "/w"}));
  EXPECT_TRUE(empty.denies({.operation = Operation::kNetworkOutbound}));
  EXPECT_TRUE(empty.allows({.operation = Operation::kSysctlRead}));
}

TEST(ProfileReaderTest, AFamilyCoversItsOperationsAndNoOthers) {
  const Profile read = profile(R"((allow file-read* (subpath (param "R"))))", {{"R", "/w"}});
  for (const Operation operation :
       {Operation::kReadData, Operation::kReadMetadata, Operation::kReadXattr}) {
    EXPECT_TRUE(allows(read, operation, "/w/f"));
  }
  EXPECT_FALSE(allows(read, Operation::kWriteData, "/w/f"));
  EXPECT_FALSE(allows(read, Operation::kExec, "/w/f"));

  const Profile write = profile(R"((allow file-write* (subpath (param "R"))))", {{"R", "/w"}});
  for (const Operation operation : {Operation::kWriteData, Operation::kWriteCreate,
                                    Operation::kWriteUnlink, Operation::kWriteMode}) {
    EXPECT_TRUE(allows(write, operation, "/w/f"));
  }
  EXPECT_FALSE(allows(write, Operation::kReadMetadata, "/w/f"));
}

TEST(ProfileReaderTest, ASubpathEndsAtAComponent) {
  const Profile read = profile(R"((allow file-read* (subpath (param "R"))))", {{"R", "/a"}});

  EXPECT_TRUE(allows(read, Operation::kReadData, "/a"));
  EXPECT_TRUE(allows(read, Operation::kReadData, "/a/b/c"));
  EXPECT_FALSE(allows(read, Operation::kReadData, "/ab"));
  EXPECT_FALSE(allows(read, Operation::kReadData, "/"));
}

TEST(ProfileReaderTest, TheSubpathOfTheRootIsEverything) {
  const Profile read = profile(R"((allow file-read* (subpath (param "R"))))", {{"R", "/"}});

  EXPECT_TRUE(allows(read, Operation::kReadData, "/"));
  EXPECT_TRUE(allows(read, Operation::kReadData, "/a"));
}

TEST(ProfileReaderTest, ALiteralIsOnlyItself) {
  const Profile read = profile(R"((allow file-read* (literal (param "R"))))", {{"R", "/a"}});

  EXPECT_TRUE(allows(read, Operation::kReadData, "/a"));
  EXPECT_FALSE(allows(read, Operation::kReadData, "/a/b"));
}

TEST(ProfileReaderTest, TheLastMatchingRuleDecides) {
  const Definitions both = {{"W", "/w"}, {"P", "/w/p"}};
  const Profile closed = profile(
      "(allow file-write* (subpath (param \"W\")))\n(deny file-write* (subpath (param \"P\")))",
      both);
  EXPECT_TRUE(allows(closed, Operation::kWriteData, "/w/f"));
  EXPECT_FALSE(allows(closed, Operation::kWriteData, "/w/p/f"));

  const Profile opened = profile(
      "(deny file-write* (subpath (param \"P\")))\n(allow file-write* (subpath (param \"W\")))",
      both);
  EXPECT_TRUE(allows(opened, Operation::kWriteData, "/w/p/f"));
}

// Measured on Macs: a rule for the operation itself is not beaten by a later one for its family.
TEST(ProfileReaderTest, AFamilyAfterARuleForTheOperationItselfIsDisputed) {
  const Definitions both = {{"A", "/w"}, {"P", "/w"}};
  const Profile disputed = profile(
      "(allow file-read-metadata (literal (param \"A\")))\n"
      "(deny file-read* (literal (param \"P\")))",
      both);

  EXPECT_EQ(answer(disputed, Operation::kReadMetadata, "/w"), Answer::kDisputed);
  EXPECT_EQ(answer(disputed, Operation::kReadData, "/w"), Answer::kDenied);

  const Profile clear = profile(
      "(allow file-read* (literal (param \"P\")))\n"
      "(allow file-read-metadata (literal (param \"A\")))",
      both);
  EXPECT_EQ(answer(clear, Operation::kReadMetadata, "/w"), Answer::kAllowed);
}

TEST(ProfileReaderTest, ADenyOfTheOperationItselfBeatsTheFamilyInBothReadings) {
  const Profile pinned = profile(
      "(allow file-write* (subpath (param \"W\")))\n"
      "(deny file-write-unlink (require-all (vnode-type DIRECTORY) (literal (param \"W\"))))",
      {{"W", "/w"}});

  EXPECT_EQ(pinned.answer(
                {.operation = Operation::kWriteUnlink, .path = "/w", .vnode = Vnode::kDirectory}),
            Answer::kDenied);
}

TEST(ProfileReaderTest, AllPartsOfARequireAllMustHold) {
  const Profile null = profile(
      "(allow file-write-data (require-all (literal \"/dev/null\") (vnode-type "
      "CHARACTER-DEVICE)))");

  EXPECT_TRUE(allows(null, Operation::kWriteData, "/dev/null", Vnode::kCharacterDevice));
  EXPECT_FALSE(allows(null, Operation::kWriteData, "/dev/null", Vnode::kRegular));
  EXPECT_FALSE(allows(null, Operation::kWriteData, "/dev/tty", Vnode::kCharacterDevice));
}

TEST(ProfileReaderTest, NamesMatchCaselesslyAndBlindToNormalization) {
  const Definitions one = {{"P", "/w/Caf\u00E9/Stra\u00DFe"}};
  const Profile literal = profile("(allow file-read* (literal (param \"P\")))", one);
  const Profile subpath = profile("(allow file-read* (subpath (param \"P\")))", one);

  for (const std::string path : {"/w/Caf\u00E9/Stra\u00DFe", "/W/CAFE\u0301/STRASSE"}) {
    EXPECT_TRUE(allows(literal, Operation::kReadData, path)) << path;
    EXPECT_TRUE(allows(subpath, Operation::kReadData, path + "/f")) << path;
  }
  EXPECT_FALSE(allows(subpath, Operation::kReadData, "/w/Cafe/Stra\u00DFe"));
}

TEST(ProfileReaderTest, ANameIsFoundInTheLastComponentOnly) {
  const Profile denied = profile("(allow process-exec)\n(deny process-exec (regex #\"/a\\.b$\"))");

  EXPECT_FALSE(allows(denied, Operation::kExec, "/x/a.b"));
  EXPECT_FALSE(allows(denied, Operation::kExec, "/A.B"));
  EXPECT_TRUE(allows(denied, Operation::kExec, "/x/a.b/c"));
  EXPECT_TRUE(allows(denied, Operation::kExec, "/x/aXb"));
  EXPECT_TRUE(allows(denied, Operation::kExec, "/x/ca.b"));
}

TEST(ProfileReaderTest, SocketsServicesAndProcessesAreToldApart) {
  const Profile rules = profile(
      "(allow network-outbound (remote unix-socket))\n"
      "(allow mach-lookup (global-name \"com.apple.a\"))\n"
      "(allow signal (target same-sandbox))");

  EXPECT_TRUE(rules.allows({.operation = Operation::kNetworkOutbound, .unix_socket = true}));
  EXPECT_FALSE(rules.allows({.operation = Operation::kNetworkOutbound}));
  EXPECT_TRUE(rules.allows({.operation = Operation::kMachLookup, .name = "com.apple.a"}));
  EXPECT_FALSE(rules.allows({.operation = Operation::kMachLookup, .name = "com.apple.ab"}));
  EXPECT_TRUE(rules.allows({.operation = Operation::kSignal, .same_sandbox = true}));
  EXPECT_FALSE(rules.allows({.operation = Operation::kSignal}));
}

// --- what it refuses
// ------------------------------------------------------------------------------

TEST(ProfileReaderTest, EveryFormOutsideOfTheGrammarIsRefused) {
  const std::pair<const char*, const char*> cases[] = {
      {"(allow file-everything (literal \"/\"))", "unknown operation"},
      {"(allow file-read-data (literal \"/\"))", "unknown operation"},
      {"(allow process-exec* (literal \"/\"))", "unknown operation"},
      {"(permit sysctl-read)", "no rule"},
      {"(allow)", "unknown operation"},
      {"sysctl-read", "no rule"},
      {"(allow file-read*)", "needs a filter"},
      {"(allow mach-lookup)", "needs a filter"},
      {"(allow file-read* (prefix \"/\"))", "unknown filter"},
      {"(allow file-read* (literal \"/\") (literal \"/etc\"))", "more than one filter"},
      {"(allow file-read* (literal \"/Users\"))", "no constant of ours"},
      {"(allow file-read* (literal (param \"X\")))", "undefined"},
      {"(allow file-read* (literal (param X)))", "no path"},
      {"(allow file-read* (vnode-type SYMLINK))", "unknown kind"},
      {"(allow file-read* (require-all (literal \"/\")))", "fewer than two"},
      {"(allow file-read* (require-not (literal \"/\")))", "unknown filter"},
      {"(allow sysctl-read (literal \"/\"))", "unknown filter"},
      {"(allow network-outbound (remote ip \"*:*\"))", "unknown filter"},
      {"(allow mach-lookup (sysctl-name \"a\"))", "unknown filter"},
      {"(deny process-exec (regex #\"a\"))", "not an escaped name"},
      {"(deny process-exec (regex #\"/a.b$\"))", "not an escaped name"},
      {"(deny process-exec (regex #\"/a\\b$\"))", "not an escaped name"},
      {"(deny process-exec (regex #\"/a/b$\"))", "not an escaped name"},
      {"(deny process-exec (regex \"/a$\"))", "not an escaped name"},
      {"(allow file-read* (literal \"/\\\"\"))", "an escape"},
      {"(allow sysctl-read", "does not end"},
      {"(allow sysctl-read))", "unexpected ')'"},
      {"(allow file-read* (literal \"/))", "does not end"},
      {"(allow sysctl-read) trailing", "no rule"},
      {"(allow sysctl-read) #", "unexpected '#'"},
  };
  for (const auto& [rules, part] : cases) {
    SCOPED_TRACE(rules);
    EXPECT_THAT(refusal(rules), HasSubstr(part));
  }
}

TEST(ProfileReaderTest, AProfileBeginsWithItsVersionAndDeniesByDefault) {
  EXPECT_TRUE(Profile::parse("; a comment\n(version 1)\n(deny default)\n", {}).has_value());
  EXPECT_FALSE(Profile::parse("(version 1)\n(deny default)", {}).has_value());
  EXPECT_FALSE(Profile::parse("(version 2)\n(deny default)\n", {}).has_value());
  EXPECT_FALSE(Profile::parse("(version 1)\n(allow default)\n", {}).has_value());
  EXPECT_FALSE(Profile::parse("(version 1)\n", {}).has_value());
  EXPECT_FALSE(Profile::parse("", {}).has_value());
}

TEST(ProfileReaderTest, EveryDefinitionIsUsedAndAbsolute) {
  EXPECT_THAT(refusal("(allow sysctl-read)", {{"X", "/x"}}), HasSubstr("nothing uses"));
  EXPECT_THAT(refusal("(allow file-read* (literal (param \"X\")))", {{"X", "x"}}),
              HasSubstr("absolute"));
}

TEST(ProfileReaderTest, ACallIsTakenApart) {
  LaunchSpec launch;
  launch.image = ImageKind::kLauncher;
  launch.argv = {"/usr/bin/sandbox-exec", "-p", "text", "-DB=/b=c", "-DA=/a", "--", "/stage2"};
  const auto call = read_call(launch);

  ASSERT_TRUE(call.has_value()) << call.error().message;
  EXPECT_EQ(call->profile, "text");
  EXPECT_FALSE(call->by_descriptor);
  EXPECT_THAT(call->order, ElementsAre("B", "A"));
  EXPECT_EQ(call->definitions.at("B"), "/b=c");
  EXPECT_THAT(call->program, ElementsAre("/stage2"));

  launch.argv[1] = "-f";
  launch.argv[2] = "/dev/fd/6";
  EXPECT_FALSE(read_call(launch).has_value());
  const auto text = as_bytes("from a file");
  launch.memory_files.push_back(
      {.role = "profile", .child_number = 6, .bytes = Bytes(text.begin(), text.end())});
  ASSERT_TRUE(read_call(launch).has_value());
  EXPECT_EQ(read_call(launch)->profile, "from a file");
  launch.argv[3] = "-DA=/b";
  EXPECT_FALSE(read_call(launch).has_value());
}

// --- the model of a Mac
// ---------------------------------------------------------------------------

ModelTree small_mac() {
  ModelTree tree;
  tree.link("/tmp", "private/tmp").directory("/private/tmp").file("/private/tmp/x");
  tree.file("/w/a/f").link("/w/l", "a/f").link("/w/dangling", "/none/x").link("/w/up", "../w/a");
  return tree;
}

TEST(ModelTreeTest, AWalkFollowsLinksAndAppendsWhatIsMissing) {
  const ModelTree tree = small_mac();

  EXPECT_EQ(tree.walk("/tmp/x").real, "/private/tmp/x");
  EXPECT_EQ(tree.walk("/tmp/y/z").real, "/private/tmp/y/z");
  EXPECT_FALSE(tree.walk("/tmp/y").kind);
  EXPECT_EQ(tree.walk("/w/l").real, "/w/a/f");
  EXPECT_EQ(tree.walk("/w/l", false).kind, NodeKind::kLink);
  EXPECT_EQ(tree.walk("/w/up/f").real, "/w/a/f");
  EXPECT_EQ(tree.walk("/w/dangling").real, "/none/x");
  EXPECT_EQ(tree.walk("/w/a/f/g").error, ENOTDIR);
  EXPECT_FALSE(tree.walk("/W/a").kind);
}

TEST(ModelTreeTest, AVolumeThatFoldsFindsTheStoredSpelling) {
  ModelTree tree = small_mac();
  tree.finds_any_case();

  EXPECT_EQ(tree.walk("/W/A/F").real, "/w/a/f");
  EXPECT_EQ(tree.walk("/W/A/New").real, "/w/a/New");
}

// cases.md 212: without the metadata of what lies above, realpath fails where reading works.
TEST(MacJailTest, ResolvingANameAsksForTheMetadataOfEverythingOnTheWay) {
  const ModelTree tree = small_mac();
  const std::string granted = "(allow file-read* (subpath (param \"R\")))\n";
  const Profile bare = profile(granted, {{"R", "/w/a"}});
  const Profile with_ancestors = profile(granted +
                                             "(allow file-read-metadata (literal (param \"A\")))\n"
                                             "(allow file-read-metadata (literal \"/\"))",
                                         {{"R", "/w/a"}, {"A", "/w"}});

  EXPECT_TRUE(MacJail(bare, tree).reads("/w/a/f"));
  EXPECT_FALSE(MacJail(bare, tree).resolves("/w/a/f"));
  EXPECT_TRUE(MacJail(with_ancestors, tree).resolves("/w/a/f"));
  EXPECT_FALSE(MacJail(with_ancestors, tree).reads("/w"));
}

// field B91: the link on the way needs its metadata, the object the grant.
TEST(MacJailTest, ALinkOnTheWayNeedsItsMetadata) {
  const ModelTree tree = small_mac();
  const std::string granted = "(allow file-read* (subpath (param \"R\")))\n";
  const Definitions physical = {{"R", "/private/tmp"}};
  const Profile bare = profile(granted, physical);
  const Profile link = profile(granted + "(allow file-read-metadata (literal \"/tmp\"))", physical);
  const Profile lexical = profile(granted, {{"R", "/tmp"}});

  EXPECT_TRUE(MacJail(bare, tree).reads("/private/tmp/x"));
  EXPECT_FALSE(MacJail(bare, tree).reads("/tmp/x"));
  EXPECT_TRUE(MacJail(link, tree).reads("/tmp/x"));
  EXPECT_FALSE(MacJail(lexical, tree).reads("/tmp/x"));
}

TEST(MacJailTest, ARenameRemovesHereAndMakesThere) {
  const ModelTree tree = small_mac();
  const Profile one = profile("(allow file-write* (subpath (param \"W\")))", {{"W", "/w/a"}});
  const MacJail jail(one, tree);

  EXPECT_TRUE(jail.renames("/w/a/f", "/w/a/g"));
  EXPECT_FALSE(jail.renames("/w/a/f", "/w/g"));
  EXPECT_FALSE(jail.renames("/w/l", "/w/a/g"));
  EXPECT_FALSE(jail.renames("/w/a/none", "/w/a/g"));
  EXPECT_FALSE(jail.renames("/w/a/f", "/w/a/none/g"));
}

TEST(MacJailTest, AProgramRunsThatIsAdmittedAndReadable) {
  const ModelTree tree = small_mac();
  const Definitions file = {{"F", "/w/a/f"}};
  const std::string runs = "(allow process-exec (literal (param \"F\")))\n";
  const Profile unread = profile(runs, file);
  const Profile read = profile(runs + "(allow file-read* (literal (param \"F\")))", file);

  EXPECT_FALSE(MacJail(unread, tree).runs("/w/a/f"));
  EXPECT_TRUE(MacJail(read, tree).runs("/w/a/f"));
  EXPECT_FALSE(MacJail(read, tree).runs("/w/l"));
}

}  // namespace
}  // namespace loom::seatbelt::test
