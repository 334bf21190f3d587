// What the generated profiles decide, in the specification's cases.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "mac_launch.h"

namespace loom::seatbelt::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

AbsolutePath path(const std::string& text) { return AbsolutePath::parse(text).value(); }

std::vector<AbsolutePath> paths(const std::vector<std::string>& texts) {
  std::vector<AbsolutePath> all;
  for (const std::string& text : texts) all.push_back(path(text));
  return all;
}

// Files of a workspace and of somebody else.
PolicyCase workspace() {
  PolicyCase one;
  for (const char* const file :
       {"/w/f", "/w/secret/key", "/w/sub/deep/f", "/x/a", "/x/b", "/x/y/t", "/h/f"}) {
    one.entries.push_back({.kind = NodeKind::kFile, .path = file});
  }
  one.policy.writable_roots = paths({"/w"});
  return one;
}

PolicyCase with_exec(PolicyCase one, ExecPolicy exec) {
  one.policy.version = 3;
  one.policy.exec = std::move(exec);
  return one;
}

ExecEntry entry(ExecEntryKind kind, const std::string& value) {
  return {.kind = kind, .value = value};
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

bool defines(const MacLaunch& launch, const std::string& value) {
  return std::any_of(launch.definitions().begin(), launch.definitions().end(),
                     [&](const auto& each) { return each.second == value; });
}

// cases.md 205
TEST(ProfileCasesTest, APathIsADefinitionAndNeverTextOfTheProfile) {
  const std::string odd = "/w/a \"quoted\"\nname";
  PolicyCase one = workspace();
  one.entries.push_back({.kind = NodeKind::kDirectory, .path = odd});
  one.policy.writable_roots = paths({odd});
  const MacLaunch launch(one);

  EXPECT_TRUE(defines(launch, odd));
  EXPECT_THAT(launch.text(), Not(HasSubstr("quoted")));
  EXPECT_TRUE(launch.may(Deed::kCreate, odd + "/new"));
  EXPECT_FALSE(launch.may(Deed::kCreate, "/w/new"));
  EXPECT_TRUE(
      launch.profile().allows({.operation = Operation::kNetworkOutbound, .unix_socket = true}));
  EXPECT_TRUE(launch.profile().denies({.operation = Operation::kNetworkOutbound}));
}

// cases.md 206
TEST(ProfileCasesTest, NothingIsAllowedBehindTheFirstProtectedDeny) {
  PolicyCase one = workspace();
  one.policy.protected_paths = paths({"/w/secret"});
  one.policy.network.mode = NetworkMode::kFull;
  const MacLaunch launch(one);
  const std::string& text = launch.text();
  const std::size_t first = text.find("PROTECTED_PATH_0");

  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(text.find("(allow", first), std::string::npos);
  EXPECT_NE(text.find("(deny file-write-unlink", first), std::string::npos);
  EXPECT_TRUE(launch.profile().allows({.operation = Operation::kNetworkOutbound}));
}

// cases.md 207
TEST(ProfileCasesTest, OrderAndRepetitionOfAListChangeNothing) {
  PolicyCase one = workspace();
  one.policy.readable_roots = paths({"/x", "/h"});
  one.policy.protected_paths = paths({"/w/secret", "/x/b"});
  PolicyCase other = one;
  other.policy.readable_roots = paths({"/h", "/x", "/h"});
  other.policy.protected_paths = paths({"/x/b", "/w/secret", "/w/secret"});

  EXPECT_EQ(MacLaunch(one).text(), MacLaunch(other).text());
  EXPECT_EQ(MacLaunch(one).definitions(), MacLaunch(other).definitions());
}

// cases.md 208
TEST(ProfileCasesTest, AMountIsReadableAndWritableAsItSays) {
  PolicyCase one = workspace();
  one.policy.protected_paths = paths({"/w/secret"});
  one.policy.mounts = {{.path = path("/x"), .writable = false, .required = true},
                       {.path = path("/h"), .writable = true, .required = true}};
  const MacLaunch launch(one);
  const std::string& text = launch.text();

  EXPECT_TRUE(launch.may(Deed::kRead, "/x/a"));
  EXPECT_FALSE(launch.may(Deed::kWrite, "/x/a"));
  EXPECT_TRUE(launch.may(Deed::kRead, "/h/f"));
  EXPECT_TRUE(launch.may(Deed::kWrite, "/h/f"));
  EXPECT_EQ(count(text, "(allow file-write* (subpath (param \"MOUNT_"), 1U);
  EXPECT_LT(text.rfind("MOUNT_"), text.find("PROTECTED_PATH_"));
}

// cases.md 209: the halves about files
TEST(ProfileCasesTest, WritingWorksInsideAndNowhereElse) {
  PolicyCase one = workspace();
  one.policy.protected_paths = paths({"/w/secret"});
  const MacLaunch launch(one);

  EXPECT_TRUE(launch.may(Deed::kWrite, "/w/f"));
  EXPECT_TRUE(launch.may(Deed::kCreate, "/w/new"));
  for (const char* const directory : kUserDirectories) {
    EXPECT_TRUE(launch.may(Deed::kCreate, std::string(directory) + "/new")) << directory;
  }
  EXPECT_FALSE(launch.may(Deed::kCreate, "/var/folders/u/new"));
  one.policy.mounts = {{.path = path("/var/folders/u/T"), .writable = false, .required = true}};
  EXPECT_FALSE(MacLaunch(one).may(Deed::kCreate, "/var/folders/u/T/new"));
  EXPECT_TRUE(MacLaunch(one).may(Deed::kCreate, "/var/folders/u/C/new"));
  EXPECT_FALSE(launch.may(Deed::kWrite, "/h/f"));
  EXPECT_FALSE(launch.may(Deed::kCreate, "/h/new"));
  EXPECT_FALSE(launch.may(Deed::kWrite, "/w/secret/key"));
  EXPECT_FALSE(launch.may(Deed::kCreate, "/w/secret/new"));
  EXPECT_FALSE(launch.may(Deed::kRead, "/w/secret/key"));
  EXPECT_FALSE(launch.may(Deed::kRead, "/w/secret"));
  EXPECT_TRUE(launch.profile().denies({.operation = Operation::kNetworkInbound}));
  EXPECT_TRUE(launch.profile().denies({.operation = Operation::kNetworkBind}));
}

// cases.md 210: the link on the way to stage 2 is read, and all of it lies outside of every region.
TEST(ProfileCasesTest, Stage2StartsWhereverItStands) {
  const MacLaunch two(workspace());
  EXPECT_TRUE(two.may(Deed::kRun, kStage2Link));
  EXPECT_TRUE(two.may(Deed::kRun, kStage2));
  EXPECT_FALSE(two.may(Deed::kWrite, kStage2));
  EXPECT_FALSE(two.may(Deed::kRead, "/helper"));

  const MacLaunch three(with_exec(workspace(), {}));
  EXPECT_TRUE(three.may(Deed::kRun, kStage2Link));
  EXPECT_FALSE(three.may(Deed::kRun, "/usr/bin/tool"));
  EXPECT_TRUE(two.may(Deed::kRun, "/usr/bin/tool"));
}

// cases.md 212
TEST(ProfileCasesTest, ANameInANestedRootCanBeResolved) {
  PolicyCase one = workspace();
  one.policy.writable_roots.clear();
  one.policy.readable_roots = paths({"/w/sub/deep"});
  const MacLaunch launch(one);

  EXPECT_TRUE(launch.may(Deed::kRead, "/w/sub/deep/f"));
  EXPECT_TRUE(launch.jail().resolves("/w/sub/deep/f"));
  EXPECT_FALSE(launch.may(Deed::kRead, "/w/sub"));
  EXPECT_FALSE(launch.may(Deed::kRead, "/w/f"));
  EXPECT_FALSE(launch.jail().looks_at("/w/f"));
}

// cases.md 213: the halves about files
TEST(ProfileCasesTest, ASiblingOfThePrivateScratchIsNotWritable) {
  PolicyCase one = workspace();
  one.entries.push_back({.kind = NodeKind::kDirectory, .path = "/tmp/loom-exec-scratch-y"});
  const MacLaunch launch(one);

  EXPECT_TRUE(launch.may(Deed::kCreate, std::string(kPrivateScratch) + "/new"));
  EXPECT_TRUE(launch.jail().makes_directory("/tmp/loom-exec-scratch-x/new"));
  EXPECT_FALSE(launch.may(Deed::kCreate, "/tmp/loom-exec-scratch-y/new"));
  EXPECT_FALSE(launch.may(Deed::kRead, "/tmp/loom-exec-scratch-y"));
  EXPECT_FALSE(launch.may(Deed::kCreate, "/tmp/new"));
  EXPECT_FALSE(launch.may(Deed::kMove, kPrivateScratch));
}

// cases.md 215
TEST(ProfileCasesTest, AnAbsentPathIsNamedByWhereItWouldBe) {
  PolicyCase one = workspace();
  one.policy.readable_roots = paths({"/tmp/x"});
  const MacLaunch launch(one);

  EXPECT_TRUE(defines(launch, "/private/tmp/x"));
  EXPECT_TRUE(launch.profile().allows({.path = "/private/tmp/x/f"}));
  EXPECT_FALSE(launch.profile().allows({.path = "/private/tmp/xy"}));
}

// cases.md 216
TEST(ProfileCasesTest, AProtectedPathIsDeniedInBothSpellings) {
  PolicyCase one = workspace();
  one.entries.push_back({.kind = NodeKind::kFile, .path = "/tmp/a"});
  one.entries.push_back({.kind = NodeKind::kFile, .path = "/tmp/b"});
  one.policy.readable_roots = paths({"/tmp"});
  one.policy.protected_paths = paths({"/tmp/a"});
  const MacLaunch launch(one);

  EXPECT_TRUE(defines(launch, "/tmp/a"));
  EXPECT_TRUE(defines(launch, "/private/tmp/a"));
  EXPECT_EQ(count(launch.text(), "(param \"PROTECTED_PATH_"), 8U);
  for (const char* const spelling : {"/tmp", "/private/tmp"}) {
    EXPECT_FALSE(launch.may(Deed::kRead, std::string(spelling) + "/a")) << spelling;
    EXPECT_TRUE(launch.may(Deed::kRead, std::string(spelling) + "/b")) << spelling;
  }
}

// field B91
TEST(ProfileCasesTest, ARootWorksInEverySpellingOfIt) {
  PolicyCase one = workspace();
  one.entries = {{.kind = NodeKind::kFile, .path = "/tmp/x/f"},
                 {.kind = NodeKind::kFile, .path = "/tmp/x/secret"},
                 {.kind = NodeKind::kLink, .path = "/h/chain", .target = "link"},
                 {.kind = NodeKind::kLink, .path = "/h/link", .target = "../tmp/x"}};
  one.policy.protected_paths = paths({"/tmp/x/secret"});
  for (const std::string& root :
       std::vector<std::string>{"/tmp/x", "/private/tmp/x", "/h/link", "/h/chain"}) {
    one.policy.writable_roots = paths({root});
    const MacLaunch launch(one);
    for (const std::string& spelling :
         {root, std::string("/tmp/x"), std::string("/private/tmp/x")}) {
      SCOPED_TRACE(root + " as " + spelling);
      EXPECT_TRUE(launch.may(Deed::kCreate, spelling + "/new"));
      EXPECT_TRUE(launch.may(Deed::kWrite, spelling + "/f"));
      EXPECT_TRUE(launch.jail().resolves(spelling + "/f"));
      EXPECT_FALSE(launch.may(Deed::kRead, spelling + "/secret"));
      EXPECT_FALSE(launch.may(Deed::kCreate, spelling + "y"));
    }
  }
  // $TMPDIR is spelled through /var.
  const MacLaunch launch(one);
  EXPECT_TRUE(launch.jail().makes_directory("/var/folders/u/T/made"));
  EXPECT_TRUE(launch.jail().resolves("/var/folders/u/T"));
}

// field B93
TEST(ProfileCasesTest, CertificatesAreVerifiedWithTheFullNetworkOnly) {
  constexpr const char* kServices[] = {
      "com.apple.SecurityServer", "com.apple.SystemConfiguration.DNSConfiguration",
      "com.apple.networkd",       "com.apple.SystemConfiguration.configd",
      "com.apple.ocspd",          "com.apple.trustd.agent"};
  for (const NetworkMode mode : {NetworkMode::kFull, NetworkMode::kOff, NetworkMode::kProxy}) {
    PolicyCase one = workspace();
    one.policy.network.mode = mode;
    const MacLaunch launch(one);
    const bool full = mode == NetworkMode::kFull;

    for (const char* const service : kServices) {
      EXPECT_EQ(launch.profile().allows({.operation = Operation::kMachLookup, .name = service}),
                full)
          << service;
    }
    EXPECT_EQ(launch.profile().allows({.operation = Operation::kNetworkOutbound}), full);
    EXPECT_TRUE(launch.profile().allows(
        {.operation = Operation::kMachLookup, .name = "com.apple.bsd.dirhelper"}));
  }
}

// field B94
TEST(ProfileCasesTest, AProfileThatIsTooLongForAnArgumentTravelsAsAFile) {
  PolicyCase one = workspace();
  EXPECT_FALSE(MacLaunch(one).by_descriptor());
  for (int i = 0; i < 500; ++i) {
    std::string at = "/w/p" + std::to_string(i);
    for (int depth = 1; depth < 12; ++depth) at += "/d" + std::to_string(depth);
    one.policy.protected_paths.push_back(path(at));
  }
  const MacLaunch launch(one);

  EXPECT_EQ(launch.refusal(), "");
  EXPECT_TRUE(launch.by_descriptor());
  const std::string last = one.policy.protected_paths.back().str();
  EXPECT_TRUE(launch.profile().denies({.operation = Operation::kWriteCreate, .path = last}));
  EXPECT_TRUE(launch.profile().allows({.operation = Operation::kWriteCreate, .path = last + "x"}));
  EXPECT_TRUE(launch.profile().denies(
      {.operation = Operation::kWriteUnlink, .path = parent_of(last), .vnode = Vnode::kDirectory}));
}

// --- names that must stay
// -------------------------------------------------------------------------

TEST(ProfileCasesTest, WhatLiesAboveAProtectedPathCannotBeMoved) {
  PolicyCase one = workspace();
  one.policy.protected_paths = paths({"/w/sub/deep/f"});
  const MacLaunch launch(one);

  EXPECT_FALSE(launch.may(Deed::kMove, "/w/sub/deep/f"));
  EXPECT_FALSE(launch.may(Deed::kMove, "/w/sub/deep"));
  EXPECT_FALSE(launch.may(Deed::kMove, "/w/sub"));
  EXPECT_FALSE(launch.may(Deed::kMove, "/w"));
  EXPECT_TRUE(launch.may(Deed::kMove, "/w/secret"));
  EXPECT_TRUE(launch.may(Deed::kMove, "/w/f"));
}

// design.md D11, D12: else `mv prepared .git`, or `ln -s prepared .git`, makes the absent
// .git/hooks.
TEST(ProfileCasesTest, WhatLiesAboveAnAbsentProtectedPathCannotBePutThere) {
  PolicyCase one = workspace();
  one.entries.push_back({.kind = NodeKind::kFile, .path = "/w/prepared/hooks/post-checkout"});
  one.entries.push_back({.kind = NodeKind::kLink, .path = "/w/way", .target = "prepared"});
  one.policy.protected_paths = paths({"/w/.git/hooks"});
  const MacLaunch launch(one);

  EXPECT_FALSE(launch.jail().renames("/w/prepared", "/w/.git"));
  EXPECT_FALSE(launch.jail().renames("/w/way", "/w/.GIT"));
  EXPECT_FALSE(launch.jail().makes_directory("/w/.git"));
  EXPECT_TRUE(launch.jail().renames("/w/prepared", "/w/.gitx"));
  EXPECT_TRUE(launch.jail().renames("/w/way", "/w/.gitx"));
}

// The same for what a policy wants to be read-only. A writable root may be made.
TEST(ProfileCasesTest, WhatLiesAboveAnAbsentReadableRootCannotBePutThere) {
  PolicyCase one = workspace();
  one.entries.push_back({.kind = NodeKind::kDirectory, .path = "/w/prepared/ro"});
  one.policy.readable_roots = paths({"/w/a/ro"});
  one.policy.writable_roots = paths({"/w", "/w/new"});
  const MacLaunch launch(one);

  EXPECT_FALSE(launch.jail().renames("/w/prepared", "/w/a"));
  EXPECT_TRUE(launch.jail().renames("/w/prepared", "/w/b"));
  EXPECT_TRUE(launch.jail().makes_directory("/w/new"));
}

// Whoever could write to it would be asked by the next run what holds.
TEST(ProfileCasesTest, StageTwoIsNotWrittenThroughAMountAboveIt) {
  PolicyCase one = workspace();
  one.entries.push_back({.kind = NodeKind::kFile, .path = "/helper/other"});
  one.policy.mounts = {{.path = path("/helper"), .writable = true, .required = true}};
  const MacLaunch launch(one);

  EXPECT_TRUE(launch.may(Deed::kWrite, "/helper/other"));
  EXPECT_FALSE(launch.may(Deed::kWrite, kStage2));
  EXPECT_FALSE(launch.may(Deed::kMove, kStage2));
  EXPECT_FALSE(launch.may(Deed::kMove, kStage2Link));
  EXPECT_FALSE(launch.may(Deed::kMove, "/helper"));
  EXPECT_TRUE(launch.may(Deed::kRun, kStage2Link));
}

TEST(ProfileCasesTest, AWritableRootCannotBeReplaced) {
  PolicyCase one = workspace();
  one.policy.writable_roots = paths({"/w", "/w/sub/deep"});
  const MacLaunch launch(one);

  EXPECT_FALSE(launch.may(Deed::kMove, "/w"));
  EXPECT_FALSE(launch.may(Deed::kMove, "/w/sub/deep"));
  EXPECT_FALSE(launch.jail().removes("/w/sub/deep"));
  EXPECT_TRUE(launch.may(Deed::kMove, "/w/sub/deep/f"));
}

TEST(ProfileCasesTest, WhatLiesAboveAReadOnlyRegionCannotBeMoved) {
  PolicyCase one = workspace();
  one.policy.readable_roots = paths({"/w/sub/deep"});
  const MacLaunch readable(one);
  one.policy.readable_roots.clear();
  one.policy.mounts = {{.path = path("/w/sub/deep"), .writable = false, .required = true}};
  const MacLaunch mounted(one);

  for (const MacLaunch* const launch : {&readable, &mounted}) {
    EXPECT_TRUE(launch->may(Deed::kRead, "/w/sub/deep/f"));
    EXPECT_FALSE(launch->may(Deed::kWrite, "/w/sub/deep/f"));
    EXPECT_FALSE(launch->may(Deed::kMove, "/w/sub/deep"));
    EXPECT_FALSE(launch->may(Deed::kMove, "/w/sub"));
    EXPECT_TRUE(launch->may(Deed::kMove, "/w/secret"));
  }
}

TEST(ProfileCasesTest, AWritableRootInsideAReadOnlyOneIsOpenAgain) {
  PolicyCase one = workspace();
  one.policy.readable_roots = paths({"/w/sub"});
  one.policy.writable_roots = paths({"/w", "/w/sub/deep"});
  const MacLaunch launch(one);

  EXPECT_TRUE(launch.may(Deed::kWrite, "/w/f"));
  EXPECT_FALSE(launch.may(Deed::kCreate, "/w/sub/new"));
  EXPECT_TRUE(launch.may(Deed::kWrite, "/w/sub/deep/f"));
}

TEST(ProfileCasesTest, ALinkThatAPolicyGoesThroughCannotBeReplaced) {
  PolicyCase one = workspace();
  one.entries.push_back({.kind = NodeKind::kLink, .path = "/w/sub/way", .target = "/x"});
  one.entries.push_back({.kind = NodeKind::kLink, .path = "/w/other", .target = "/x"});
  one.policy.readable_roots = paths({"/w/sub/way"});
  const MacLaunch launch(one);

  EXPECT_TRUE(launch.may(Deed::kRead, "/w/sub/way/a"));
  EXPECT_FALSE(launch.may(Deed::kMove, "/w/sub/way"));
  EXPECT_FALSE(launch.may(Deed::kMove, "/w/sub"));
  EXPECT_TRUE(launch.may(Deed::kMove, "/w/other"));
}

// guard 9.8: 155
TEST(ProfileCasesTest, AnAbsentProtectedNameIsHeldInEverySpelling) {
  PolicyCase one = workspace();
  one.policy.protected_paths = paths({"/w/Secrets"});
  for (const bool any_case : {false, true}) {
    one.any_case = any_case;
    const MacLaunch launch(one);

    EXPECT_FALSE(launch.jail().makes_directory("/w/secrets"));
    EXPECT_FALSE(launch.jail().makes_directory("/w/Secrets"));
    EXPECT_TRUE(launch.jail().makes_directory("/w/secretsx"));
    EXPECT_FALSE(launch.jail().renames("/w/f", "/w/SECRETS"));
    EXPECT_TRUE(launch.jail().renames("/w/f", "/w/g"));
  }
}

// cases.md 211.
TEST(ProfileCasesTest, AProgramOfThePackageManagerRunsAndOfAStrangerDoesNot) {
  PolicyCase one = workspace();
  for (const char* const file : {"/opt/homebrew/bin/tool", "/opt/other/bin/tool"}) {
    one.entries.push_back({.kind = NodeKind::kFile, .path = file});
  }
  const MacLaunch launch(one);

  EXPECT_TRUE(launch.may(Deed::kRead, "/opt/homebrew/bin/tool"));
  EXPECT_TRUE(launch.may(Deed::kRun, "/opt/homebrew/bin/tool"));
  EXPECT_FALSE(launch.may(Deed::kWrite, "/opt/homebrew/bin/tool"));
  EXPECT_FALSE(launch.may(Deed::kRead, "/opt/other/bin/tool"));
}

// --- /System/Volumes, which lies in the system view and is not the system's

constexpr const char* kOwn = "/System/Volumes/Data/own/f";
constexpr const char* kCache = "/System/Volumes/Preboot/Cryptexes/OS/cache";

TEST(ProfileCasesTest, TheDataVolumeIsNoPartOfTheSystemView) {
  const MacLaunch launch(workspace());

  EXPECT_FALSE(launch.may(Deed::kRead, kOwn));
  EXPECT_FALSE(launch.may(Deed::kRead, "/System/Volumes/Data"));
  EXPECT_FALSE(launch.may(Deed::kRead, "/System/Volumes/Preboot"));
  EXPECT_EQ(launch.shown(kOwn).mount_class, MountClass::kRootTmpfs);
  EXPECT_TRUE(launch.may(Deed::kRead, "/System/Library"));
  // The shared cache of libraries: nothing starts without.
  EXPECT_TRUE(launch.may(Deed::kRead, kCache));
  EXPECT_TRUE(launch.jail().resolves(kCache));
  EXPECT_EQ(launch.shown(kCache).mount_class, MountClass::kReadable);
}

// The policy names it, or what it lies in.
TEST(ProfileCasesTest, WhatARegionOfThePolicySaysOfTheDataVolumeHolds) {
  for (const char* const region : {"/", "/System", "/System/Volumes", "/System/Volumes/Data/own"}) {
    SCOPED_TRACE(region);
    PolicyCase readable = workspace();
    readable.policy.readable_roots = paths({region});
    PolicyCase mounted = workspace();
    mounted.policy.mounts = {{.path = path(region), .writable = false, .required = true}};
    for (const PolicyCase& one : {readable, mounted}) {
      const MacLaunch launch(one);
      EXPECT_TRUE(launch.may(Deed::kRead, kOwn));
      EXPECT_FALSE(launch.may(Deed::kWrite, kOwn));
      EXPECT_TRUE(is_host_backed(launch.shown(kOwn).mount_class));
      EXPECT_TRUE(launch.may(Deed::kRead, kCache));
    }
  }
}

TEST(ProfileCasesTest, AWritableRegionOnTheDataVolumeIsWrittenAndItsProtectedPathIsNot) {
  PolicyCase one = workspace();
  one.entries.push_back({.kind = NodeKind::kFile, .path = "/System/Volumes/Data/other"});
  one.policy.writable_roots = paths({"/System/Volumes/Data/own"});
  const MacLaunch open(one);
  EXPECT_TRUE(open.may(Deed::kWrite, kOwn));
  EXPECT_FALSE(open.may(Deed::kRead, "/System/Volumes/Data/other"));

  one.policy.protected_paths = paths({kOwn});
  const MacLaunch held(one);
  EXPECT_FALSE(held.may(Deed::kRead, kOwn));
  EXPECT_FALSE(held.may(Deed::kWrite, kOwn));
  EXPECT_TRUE(held.may(Deed::kCreate, "/System/Volumes/Data/own/new"));
}

// The view puts what a table shows on the ground that hides, and below what lies in it.
TEST(ProfileCasesTest, AProgramOnTheDataVolumeIsShownByItsTable) {
  const MacLaunch launch(with_exec(
      workspace(), {.allow = {entry(ExecEntryKind::kDirectory, "/System/Volumes/Data/own")}}));

  EXPECT_TRUE(launch.may(Deed::kRead, kOwn));
  EXPECT_TRUE(launch.may(Deed::kRun, kOwn));
  EXPECT_EQ(launch.shown(kOwn).mount_class, MountClass::kExecShown);
  EXPECT_FALSE(launch.may(Deed::kRead, "/System/Volumes/Data"));
  EXPECT_FALSE(launch.may(Deed::kRun, kCache));
}

TEST(ProfileCasesTest, ATableThatAllowsTheSystemShowsNoVolume) {
  const MacLaunch launch(
      with_exec(workspace(), {.allow = {entry(ExecEntryKind::kDirectory, "/System")}}));

  EXPECT_FALSE(launch.may(Deed::kRead, kOwn));
  EXPECT_FALSE(launch.may(Deed::kRun, kOwn));
  EXPECT_TRUE(launch.may(Deed::kRun, kCache));
  EXPECT_TRUE(launch.may(Deed::kRead, "/System/Library"));
}

// A definition that no rule uses is one too many.
TEST(ProfileCasesTest, ATableThatAllowsTheSystemAndEverythingElseNamesNothing) {
  const MacLaunch launch(with_exec(
      workspace(),
      {.allow_by_default = true, .allow = {entry(ExecEntryKind::kDirectory, "/System")}}));

  EXPECT_EQ(launch.definitions().count("EXEC_ALLOWED_0"), 0U);
  EXPECT_FALSE(launch.may(Deed::kRead, kOwn));
}

// guard 9.8: 156
TEST(ProfileCasesTest, AnExcludedFileOfAnAdmittedDirectoryDoesNotRun) {
  const MacLaunch launch(with_exec(workspace(), {.allow = {entry(ExecEntryKind::kDirectory, "/x")},
                                                 .deny = {entry(ExecEntryKind::kFile, "/x/b")}}));

  EXPECT_TRUE(launch.may(Deed::kRun, "/x/a"));
  EXPECT_FALSE(launch.may(Deed::kRun, "/x/b"));
  EXPECT_TRUE(launch.may(Deed::kRead, "/x/b"));
  EXPECT_FALSE(launch.may(Deed::kRun, "/usr/bin/tool"));
}

// guard 9.8: 157
TEST(ProfileCasesTest, NothingReopensAnExclusion) {
  const MacLaunch launch(with_exec(
      workspace(),
      {.allow = {entry(ExecEntryKind::kDirectory, "/x"), entry(ExecEntryKind::kFile, "/x/y/t")},
       .deny = {entry(ExecEntryKind::kDirectory, "/x/y")}}));

  EXPECT_FALSE(launch.may(Deed::kRun, "/x/y/t"));
  EXPECT_TRUE(launch.may(Deed::kRun, "/x/a"));
}

// guard 9.8: 161
TEST(ProfileCasesTest, AnExcludedDirectoryIsExcludedInBothSpellings) {
  PolicyCase one = workspace();
  one.entries.push_back({.kind = NodeKind::kFile, .path = "/tmp/x/t"});
  one.entries.push_back({.kind = NodeKind::kFile, .path = "/tmp/y/t"});
  one.policy.readable_roots = paths({"/tmp"});
  const MacLaunch launch(with_exec(
      one, {.allow_by_default = true, .deny = {entry(ExecEntryKind::kDirectory, "/tmp/x")}}));

  for (const char* const spelling : {"/tmp", "/private/tmp"}) {
    EXPECT_FALSE(launch.may(Deed::kRun, std::string(spelling) + "/x/t")) << spelling;
    EXPECT_TRUE(launch.may(Deed::kRun, std::string(spelling) + "/y/t")) << spelling;
  }
}

TEST(ProfileCasesTest, AnExcludedNameRunsNowhereAndInNoSpelling) {
  PolicyCase one = workspace();
  one.entries.push_back({.kind = NodeKind::kFile, .path = "/x/y/B"});
  const MacLaunch launch(with_exec(one, {.allow_by_default = true,
                                         .allow = {entry(ExecEntryKind::kDirectory, "/x")},
                                         .deny = {entry(ExecEntryKind::kName, "b")}}));

  EXPECT_FALSE(launch.may(Deed::kRun, "/x/b"));
  EXPECT_FALSE(launch.may(Deed::kRun, "/x/y/B"));
  EXPECT_TRUE(launch.may(Deed::kRun, "/x/a"));
}

// guard 6.2
TEST(ProfileCasesTest, WhatLiesAboveAnExclusionCannotBeMoved) {
  PolicyCase one = workspace();
  const MacLaunch launch(with_exec(
      one, {.allow_by_default = true, .deny = {entry(ExecEntryKind::kFile, "/w/sub/deep/f")}}));

  EXPECT_FALSE(launch.may(Deed::kRun, "/w/sub/deep/f"));
  EXPECT_FALSE(launch.may(Deed::kMove, "/w/sub/deep"));
  EXPECT_FALSE(launch.may(Deed::kMove, "/w/sub"));
  EXPECT_TRUE(launch.may(Deed::kMove, "/w/secret"));
}

// Rules for an operation itself may beat later ones for its family (profile_reader.h), so what is
// protected is no directory above anything that is granted.
TEST(ProfileCasesTest, NotEvenTheMetadataOfWhatIsProtectedIsGranted) {
  PolicyCase one = workspace();
  one.policy.readable_roots = paths({"/h"});
  one.policy.writable_roots = paths({"/w", "/w/secret/inner"});
  one.policy.protected_paths = paths({"/w/secret"});
  const MacLaunch launch(one);

  EXPECT_EQ(launch.jail().answer(Operation::kReadMetadata, "/w/secret"), Answer::kDenied);
  EXPECT_EQ(launch.jail().answer(Operation::kReadMetadata, "/w"), Answer::kAllowed);
}

}  // namespace
}  // namespace loom::seatbelt::test
