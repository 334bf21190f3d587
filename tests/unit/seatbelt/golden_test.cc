#include "tests/support/golden.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <loom/utf8.h>

#include <string>
#include <utility>

#include "mac_fixture.h"

// One file for each policy: the profile, its definitions, how it is launched, what the report may
// claim, and the view. What the policy means stands in the test.

namespace loom::seatbelt::test {
namespace {

using ::testing::Contains;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string view_line(const MountOperation& operation) {
  std::string line =
      std::string(mount_class_name(operation.mount_class)) + ' ' + escaped(operation.region.str());
  if (operation.written != operation.region) line += " written " + escaped(operation.written.str());
  return line;
}

void add(std::vector<std::string>& lines, const std::string& title,
         const std::vector<std::string>& more) {
  if (more.empty()) return;
  lines.push_back("--- " + title);
  for (const std::string& line : more) lines.push_back(escaped(line));
}

std::vector<std::string> golden_lines(const Launched& launched) {
  std::vector<std::string> lines = lines_of(launched.profile());
  std::vector<std::string> definitions;
  for (const std::string& name : launched.call().order) {
    definitions.push_back(name + '=' + launched.call().definitions.at(name));
  }
  add(lines, "definitions", definitions);
  lines.emplace_back("--- view");
  for (const MountOperation& operation : launched.plan().view) {
    lines.push_back(view_line(operation));
  }
  add(lines, "start", {launched.launch().argv[1], launched.launch().cwd});
  add(lines, "when witnessed", launched.audit().when_witnessed);
  add(lines, "extras", launched.audit().extras);
  add(lines, "notes", launched.plan().notes);
  return lines;
}

Launched golden(const std::string& name, const Mac& mac, const PlanRequest& request) {
  Launched launched(mac, request);
  loom::test::expect_golden(golden_lines(launched), "seatbelt/" + name + ".profile");
  return launched;
}

Launched golden(const std::string& name, const Mac& mac, const Policy& policy) {
  return golden(name, mac, mac.request(policy));
}

const std::string kIn = std::string(kWork) + '/';

// --- roots ---------------------------------------------------------------------------------------

TEST(SeatbeltGoldenTest, NothingAskedFor) {
  const Launched run = golden("nothing", Mac(), Policy{});
  EXPECT_TRUE(run.jail().reads("/bin/sh"));
  EXPECT_TRUE(run.jail().creates(std::string(kRunScratch) + "/f"));
  EXPECT_FALSE(run.jail().reads("/Users/me/.ssh/id"));
  EXPECT_FALSE(run.jail().creates(kIn + "f"));
}

TEST(SeatbeltGoldenTest, AWorkspace) {
  const Launched run = golden("workspace", Mac(), work_policy());
  EXPECT_TRUE(run.jail().creates(kIn + "new"));
  EXPECT_TRUE(run.jail().reads(kIn + "src/main.c"));
  EXPECT_FALSE(run.jail().reads(kIn + ".git/hooks"));
  EXPECT_FALSE(run.jail().creates(kIn + ".git/config"));
  EXPECT_FALSE(run.jail().renames(kWork, "/Users/me/work2"));
}

TEST(SeatbeltGoldenTest, TheWholeHostForReading) {
  Policy policy = work_policy();
  policy.readable_roots = paths({"/"});
  const Launched run = golden("host_view", Mac(), policy);
  EXPECT_TRUE(run.jail().reads("/Users/me/.ssh/id"));
  EXPECT_FALSE(run.jail().writes("/Users/me/.ssh/id"));
  EXPECT_TRUE(run.jail().writes(kIn + "src/main.c"));
  EXPECT_THAT(run.files_entry(), HasSubstr(",base=host-view,"));
}

TEST(SeatbeltGoldenTest, TheWholeHostForWriting) {
  Policy policy;
  policy.writable_roots = paths({"/"});
  const Launched run = golden("host_writable", Mac(), policy);
  EXPECT_TRUE(run.jail().writes("/Users/me/.ssh/id"));
  EXPECT_FALSE(run.jail().creates("/usr/bin/new"));
  EXPECT_FALSE(run.jail().writes("/dev/tty"));
  EXPECT_TRUE(run.jail().writes("/dev/null"));
  EXPECT_FALSE(run.jail().writes(kStage2Path));
  EXPECT_TRUE(run.jail().creates("/private/var/folders/zz/T/f"));
}

TEST(SeatbeltGoldenTest, AReadableRoot) {
  Policy policy = work_policy();
  policy.readable_roots = paths({"/Users/me/.ssh"});
  const Launched run = golden("readable_root", Mac(), policy);
  EXPECT_TRUE(run.jail().reads("/Users/me/.ssh/id"));
  EXPECT_FALSE(run.jail().writes("/Users/me/.ssh/id"));
}

TEST(SeatbeltGoldenTest, AReadableRootThatIsAFile) {
  Policy policy;
  policy.readable_roots = paths({kIn + "src/main.c"});
  const Launched run = golden("readable_file", Mac(), policy);
  EXPECT_TRUE(run.jail().reads(kIn + "src/main.c"));
  EXPECT_TRUE(run.jail().resolves(kIn + "src/main.c"));
  EXPECT_FALSE(run.jail().reads(kIn + "src"));
  EXPECT_FALSE(run.jail().reads(kIn + ".env"));
}

TEST(SeatbeltGoldenTest, AReadableRootThatIsNotThere) {
  Policy policy = work_policy();
  policy.readable_roots = paths({kIn + "vendor"});
  const Launched run = golden("readable_root_missing", Mac(), policy);
  EXPECT_FALSE(run.jail().makes_directory(kIn + "vendor"));
  EXPECT_TRUE(run.jail().makes_directory(kIn + "vendored"));
  EXPECT_THAT(run.plan().notes, Contains(HasSubstr("vendor does not exist")));
}

TEST(SeatbeltGoldenTest, AReadableRootInAWritableOne) {
  Policy policy = work_policy();
  policy.readable_roots = paths({kIn + "src"});
  const Launched run = golden("readable_in_writable", Mac(), policy);
  EXPECT_TRUE(run.jail().reads(kIn + "src/main.c"));
  EXPECT_FALSE(run.jail().writes(kIn + "src/main.c"));
  EXPECT_TRUE(run.jail().creates(kIn + "beside"));
  EXPECT_FALSE(run.jail().renames(kIn + "src", kIn + "moved"));
}

TEST(SeatbeltGoldenTest, AReadableRootFarInsideAWritableOnePinsWhatIsAboveIt) {
  Policy policy = work_policy();
  policy.readable_roots = paths({kIn + "a/b/c"});
  const Mac mac = Mac().file(kIn + "a/b/c/f").directory(kIn + "a/other");
  const Launched run = golden("readable_far_in_writable", mac, policy);
  EXPECT_FALSE(run.jail().writes(kIn + "a/b/c/f"));
  EXPECT_FALSE(run.jail().renames(kIn + "a", kIn + "z"));
  EXPECT_FALSE(run.jail().renames(kIn + "a/b", kIn + "z"));
  EXPECT_TRUE(run.jail().renames(kIn + "a/other", kIn + "z"));
  EXPECT_TRUE(run.jail().creates(kIn + "a/b/new"));
}

TEST(SeatbeltGoldenTest, AWritableRootInAReadableOneInAWritableOne) {
  Policy policy = work_policy();
  policy.readable_roots = paths({kIn + "src", kIn + "src/out/kept"});
  policy.writable_roots = paths({kWork, kIn + "src/out"});
  const Mac mac = Mac().file(kIn + "src/out/o").file(kIn + "src/out/kept/k");
  const Launched run = golden("nested_levels", mac, policy);
  EXPECT_FALSE(run.jail().writes(kIn + "src/main.c"));
  EXPECT_TRUE(run.jail().writes(kIn + "src/out/o"));
  EXPECT_FALSE(run.jail().writes(kIn + "src/out/kept/k"));
}

TEST(SeatbeltGoldenTest, AWritableRootInAReadableOneNeedsNoCorrection) {
  Policy policy;
  policy.readable_roots = paths({kWork});
  policy.writable_roots = paths({kIn + "src"});
  const Launched run = golden("writable_in_readable", Mac(), policy);
  EXPECT_TRUE(run.jail().writes(kIn + "src/main.c"));
  EXPECT_FALSE(run.jail().writes(kIn + ".env"));
  EXPECT_THAT(run.profile(), Not(HasSubstr("(deny file-write* (sub")));
}

TEST(SeatbeltGoldenTest, OneRegionBothReadableAndWritable) {
  Policy policy;
  policy.readable_roots = paths({kWork});
  policy.writable_roots = paths({kWork});
  const Launched run = golden("readable_and_writable", Mac(), policy);
  EXPECT_TRUE(run.jail().writes(kIn + "src/main.c"));
}

TEST(SeatbeltGoldenTest, ASystemDirectoryInAWritableRoot) {
  Policy policy;
  policy.writable_roots = paths({"/private/var"});
  const Mac mac = Mac().file("/private/var/db/d").file("/private/var/log/l");
  const Launched run = golden("system_in_writable", mac, policy);
  EXPECT_FALSE(run.jail().writes("/private/var/db/d"));
  EXPECT_TRUE(run.jail().writes("/private/var/log/l"));
}

TEST(SeatbeltGoldenTest, TheRuntimesOwnRegionAsAWritableRoot) {
  Policy policy;
  policy.writable_roots = paths({"/opt/homebrew"});
  const Mac mac = Mac().file("/opt/homebrew/bin/tool");
  const Launched run = golden("system_root_writable", mac, policy);
  EXPECT_TRUE(run.jail().writes("/opt/homebrew/bin/tool"));
  EXPECT_FALSE(run.jail().writes("/usr/bin/true"));
}

// --- spellings -----------------------------------------------------------------------------------

// field B91
TEST(SeatbeltGoldenTest, TheTemporaryDirectoryUnderBothSpellings) {
  Policy policy;
  policy.writable_roots = paths({"/tmp/x", "/var/folders/zz/T/y"});
  const Mac mac = Mac().directory("/private/tmp/x").directory("/private/var/folders/zz/T/y");
  const Launched run = golden("both_spellings", mac, policy);
  for (const char* const place :
       {"/tmp/x/f", "/private/tmp/x/f", "/var/folders/zz/T/y/f", "/private/var/folders/zz/T/y/f"}) {
    EXPECT_TRUE(run.jail().creates(place)) << place;
    EXPECT_TRUE(run.jail().resolves(std::string(place).substr(0, std::string(place).size() - 2)));
  }
  EXPECT_FALSE(run.jail().creates("/tmp/f"));
}

// cases.md 215
TEST(SeatbeltGoldenTest, AWritableRootThatIsNotThere) {
  Policy policy;
  policy.writable_roots = paths({"/tmp/x"});
  const Launched run = golden("writable_root_missing", Mac(), policy);
  EXPECT_THAT(run.defined("WRITABLE_ROOT_"), Contains("/private/tmp/x"));
  EXPECT_TRUE(run.jail().makes_directory("/tmp/x"));
  EXPECT_FALSE(run.jail().makes_directory("/tmp/y"));
}

// cases.md 216
// field B91
TEST(SeatbeltGoldenTest, AProtectedPathBehindASystemLink) {
  Policy policy;
  policy.writable_roots = paths({"/tmp"});
  policy.protected_paths = paths({"/tmp/a"});
  const Launched run = golden("protected_both_spellings", Mac(), policy);
  EXPECT_THAT(run.defined("PROTECTED_PATH_"), ::testing::ElementsAre("/private/tmp/a", "/tmp/a"));
  EXPECT_EQ(count(run.profile(), "(param \"PROTECTED_PATH_"), 8U);
  EXPECT_THAT(run.files_entry(), HasSubstr(",mask=2,"));
  EXPECT_FALSE(run.jail().makes_directory("/tmp/a"));
  EXPECT_FALSE(run.jail().makes_directory("/private/tmp/a"));
  EXPECT_TRUE(run.jail().makes_directory("/tmp/b"));
}

TEST(SeatbeltGoldenTest, AProtectedPathByItsRealNameHasTheSameRules) {
  Policy policy;
  policy.writable_roots = paths({"/private/tmp"});
  policy.protected_paths = paths({"/private/tmp/a"});
  Policy other;
  other.writable_roots = paths({"/tmp"});
  other.protected_paths = paths({"/tmp/a"});
  const Launched run = golden("protected_real_spelling", Mac(), policy);
  EXPECT_EQ(run.defined("PROTECTED_"), Launched(Mac(), other).defined("PROTECTED_"));
  EXPECT_EQ(run.plan().view.size(), Launched(Mac(), other).plan().view.size());
}

// cases.md 205
TEST(SeatbeltGoldenTest, HostileNames) {
  Policy policy = work_policy();
  policy.writable_roots = paths({"/Users/me/a \"b\"\nc", "/Users/me/(allow default)"});
  policy.readable_roots = paths({"/Users/me/back\\slash", "/Users/me/\xff\xfe"});
  policy.protected_paths = paths({"/Users/me/a \"b\"\nc/;secret", "/Users/me/x=y"});
  const Mac mac = Mac().directory("/Users/me/a \"b\"\nc").directory("/Users/me/(allow default)");
  const Launched run = golden("hostile_names", mac, policy);
  EXPECT_TRUE(run.jail().creates("/Users/me/a \"b\"\nc/f"));
  EXPECT_FALSE(run.jail().creates("/Users/me/a \"b\"\nc/;secret"));
  EXPECT_TRUE(run.jail().creates("/Users/me/(allow default)/f"));
  EXPECT_FALSE(run.jail().reads("/Users/me/.ssh/id"));
  for (const char* const text : {"secret", "Users", "\"b\"", "slash", "\xff", "x=y"}) {
    EXPECT_THAT(run.profile(), Not(HasSubstr(text)));
  }
}

TEST(SeatbeltGoldenTest, LinksInTheWorkspace) {
  Policy policy = work_policy();
  policy.protected_paths = paths({kIn + "keys/secret"});
  policy.readable_roots = paths({kIn + "lib"});
  const Mac mac = Mac()
                      .file("/Users/me/keys/secret")
                      .link(kIn + "keys", "../keys")
                      .directory("/Users/me/lib")
                      .link(kIn + "lib", "../lib");
  const Launched run = golden("links_in_workspace", mac, policy);
  EXPECT_FALSE(run.jail().reads("/Users/me/keys/secret"));
  EXPECT_FALSE(run.jail().reads(kIn + "keys/secret"));
  EXPECT_FALSE(run.jail().removes(kIn + "keys"));
  EXPECT_FALSE(run.jail().removes(kIn + "lib"));
  EXPECT_TRUE(run.jail().reads("/Users/me/lib"));
  EXPECT_TRUE(run.jail().removes(kIn + ".env"));
}

// --- protected -----------------------------------------------------------------------------------

// guard 9.8: 155
TEST(SeatbeltGoldenTest, AProtectedPathThatIsNotThere) {
  Policy policy = work_policy();
  policy.protected_paths = paths({kIn + "Secrets"});
  const Launched run = golden("protected_missing", Mac(), policy);
  EXPECT_FALSE(run.jail().makes_directory(kIn + "Secrets"));
  EXPECT_FALSE(run.jail().makes_directory(kIn + "secrets"));
  EXPECT_TRUE(run.jail().makes_directory(kIn + "secret"));
}

TEST(SeatbeltGoldenTest, AProtectedFile) {
  Policy policy = work_policy();
  policy.protected_paths = paths({kIn + ".env"});
  const Launched run = golden("protected_file", Mac(), policy);
  EXPECT_FALSE(run.jail().reads(kIn + ".env"));
  EXPECT_FALSE(run.jail().writes(kIn + ".env"));
  EXPECT_FALSE(run.jail().removes(kIn + ".env"));
  EXPECT_TRUE(run.jail().reads(kIn + "src/main.c"));
}

TEST(SeatbeltGoldenTest, ProtectedPathsInOneAnother) {
  Policy policy = work_policy();
  policy.protected_paths = paths({kIn + ".git", kIn + ".git/hooks", "/Users/me/.ssh"});
  const Launched run = golden("protected_nested", Mac(), policy);
  EXPECT_FALSE(run.jail().reads(kIn + ".git/hooks"));
  EXPECT_FALSE(run.jail().makes_directory(kIn + ".git/x"));
  EXPECT_THAT(run.files_entry(), HasSubstr(",mask=3,"));
}

TEST(SeatbeltGoldenTest, AProtectedPathFarInsideAWritableRoot) {
  Policy policy = work_policy();
  policy.protected_paths = paths({kIn + "a/b/key"});
  const Mac mac = Mac().file(kIn + "a/b/key").file(kIn + "a/b/open");
  const Launched run = golden("protected_ancestors", mac, policy);
  EXPECT_FALSE(run.jail().renames(kIn + "a", kIn + "z"));
  EXPECT_FALSE(run.jail().renames(kIn + "a/b", kIn + "z"));
  EXPECT_TRUE(run.jail().renames(kIn + "a/b/open", kIn + "z"));
}

TEST(SeatbeltGoldenTest, AProtectedPathAboveAWritableRoot) {
  Policy policy = work_policy();
  policy.protected_paths = paths({"/Users/me"});
  const Launched run = golden("protected_above", Mac(), policy);
  EXPECT_FALSE(run.jail().creates(kIn + "f"));
  EXPECT_FALSE(run.jail().looks_at(kWork));
  EXPECT_TRUE(run.jail().looks_at("/Users"));
}

// --- network -------------------------------------------------------------------------------------

// cases.md 206
TEST(SeatbeltGoldenTest, FullNetwork) {
  Policy policy = work_policy();
  policy.network.mode = NetworkMode::kFull;
  const Launched run = golden("network_full", Mac(), policy);
  EXPECT_TRUE(run.rules().allows({.operation = Operation::kNetworkOutbound}));
  EXPECT_TRUE(
      run.rules().allows({.operation = Operation::kMachLookup, .name = "com.apple.trustd.agent"}));
  EXPECT_THAT(run.audit().when_witnessed, Not(Contains("seatbelt-net")));
}

TEST(SeatbeltGoldenTest, ProxyIsCut) {
  Policy policy = work_policy();
  policy.network = {.mode = NetworkMode::kProxy, .allow = {"a.example"}, .proxy = "127.0.0.1:1"};
  const Launched run = golden("network_proxy", Mac(), policy);
  EXPECT_FALSE(run.rules().allows({.operation = Operation::kNetworkOutbound}));
  EXPECT_TRUE(run.rules().allows({.operation = Operation::kNetworkOutbound, .unix_socket = true}));
  EXPECT_THAT(run.audit().when_witnessed, Contains("seatbelt-net"));
}

TEST(SeatbeltGoldenTest, NoUnixSockets) {
  const Mac mac;
  PlanRequest request = mac.request(work_policy());
  request.deny_unix_sockets = true;
  const Launched run = golden("no_unix_sockets", mac, request);
  const Question connect{.operation = Operation::kNetworkOutbound, .unix_socket = true};
  EXPECT_FALSE(run.rules().allows(connect));
  EXPECT_TRUE(Launched(mac, work_policy()).rules().allows(connect));
  EXPECT_THAT(run.audit().extras, Not(Contains("unheld:unix-path")));
}

TEST(SeatbeltGoldenTest, FullNetworkWithoutUnixSockets) {
  const Mac mac;
  Policy policy = work_policy();
  policy.network.mode = NetworkMode::kFull;
  PlanRequest request = mac.request(policy);
  request.deny_unix_sockets = true;
  const Launched run = golden("network_full_no_unix_sockets", mac, request);
  EXPECT_TRUE(run.rules().allows({.operation = Operation::kNetworkOutbound}));
  EXPECT_FALSE(run.rules().allows({.operation = Operation::kNetworkOutbound, .unix_socket = true}));
}

// --- mounts --------------------------------------------------------------------------------------

// cases.md 208
TEST(SeatbeltGoldenTest, MountsOfBothKinds) {
  Policy policy = work_policy();
  policy.mounts = {mount("/Users/me/data", true), mount("/Users/me/.ssh", false)};
  const Mac mac = Mac().file("/Users/me/data/d");
  const Launched run = golden("mounts", mac, policy);
  EXPECT_TRUE(run.jail().reads("/Users/me/.ssh/id"));
  EXPECT_FALSE(run.jail().writes("/Users/me/.ssh/id"));
  EXPECT_TRUE(run.jail().writes("/Users/me/data/d"));
  EXPECT_FALSE(run.jail().renames("/Users/me/data", "/Users/me/data2"));
  EXPECT_THAT(run.files_entry(), HasSubstr(",bind_ro=1,bind_rw=1,"));
}

TEST(SeatbeltGoldenTest, AReadOnlyMountInAWritableRoot) {
  Policy policy = work_policy();
  policy.mounts = {mount(kIn + "src", false), mount(kIn + "src/out", true)};
  const Mac mac = Mac().file(kIn + "src/out/o");
  const Launched run = golden("mount_ro_in_writable", mac, policy);
  EXPECT_FALSE(run.jail().writes(kIn + "src/main.c"));
  EXPECT_TRUE(run.jail().writes(kIn + "src/out/o"));
  EXPECT_TRUE(run.jail().creates(kIn + "beside"));
}

TEST(SeatbeltGoldenTest, AWritableMountOverAReadableRootInAWritableOne) {
  Policy policy = work_policy();
  policy.readable_roots = paths({kIn + "src"});
  policy.mounts = {mount(kIn + "src", true)};
  const Launched run = golden("mount_rw_over_readable", Mac(), policy);
  EXPECT_TRUE(run.jail().writes(kIn + "src/main.c"));
}

TEST(SeatbeltGoldenTest, AnOptionalMountOfNothing) {
  Policy policy = work_policy();
  policy.mounts = {mount("/Users/me/absent", true, false)};
  const Launched run = golden("mount_optional_missing", Mac(), policy);
  EXPECT_FALSE(run.jail().makes_directory("/Users/me/absent"));
  EXPECT_THAT(run.files_entry(), HasSubstr(",bind_ro=0,bind_rw=0,"));
  EXPECT_EQ(run.profile(), Launched(Mac(), work_policy()).profile());
}

TEST(SeatbeltGoldenTest, AReadOnlyMountAboveTheScratch) {
  Policy policy;
  policy.writable_roots = paths({"/private/tmp/w"});
  policy.mounts = {mount("/tmp", false)};
  const Mac mac = Mac().directory("/private/tmp/w").file("/private/tmp/f");
  const Launched run = golden("mount_ro_above_scratch", mac, policy);
  EXPECT_TRUE(run.jail().creates(std::string(kRunScratch) + "/f"));
  EXPECT_TRUE(run.jail().reads("/tmp/f"));
  EXPECT_FALSE(run.jail().creates("/private/tmp/w/f"));
}

// --- scratch and directories of the user ---------------------------------------------------------

TEST(SeatbeltGoldenTest, AScratchOfTheHost) {
  Policy policy = work_policy();
  policy.scratch = {.host_path = path("/tmp/mine"), .written = "/tmp/mine"};
  const Mac mac = Mac().directory("/private/tmp/mine");
  const Launched run = golden("host_scratch", mac, policy);
  EXPECT_TRUE(run.jail().creates("/tmp/mine/f"));
  EXPECT_FALSE(run.jail().creates(std::string(kRunScratch) + "/f"));
  EXPECT_THAT(run.files_entry(), HasSubstr(",scratch=path,"));
}

TEST(SeatbeltGoldenTest, WithoutUserDirectories) {
  const Launched run = golden("no_user_directories", Mac().machine({}), work_policy());
  EXPECT_FALSE(run.jail().creates("/private/var/folders/zz/T/f"));
  EXPECT_THAT(run.files_entry(), StartsWith("seatbelt-fs:rw=2,"));
  EXPECT_TRUE(Launched(Mac(), work_policy()).jail().creates("/private/var/folders/zz/T/f"));
}

// cases.md 210
TEST(SeatbeltGoldenTest, Stage2BehindTwoLinks) {
  const Mac mac = Mac()
                      .file("/Users/me/app/1/stage2")
                      .link("/Users/me/app/now", "1")
                      .link("/Users/me/bin/stage2", "../app/now/stage2")
                      .stage2("/Users/me/bin/stage2");
  const Launched run = golden("stage2_links", mac, work_policy());
  EXPECT_TRUE(run.jail().runs("/Users/me/bin/stage2"));
  EXPECT_FALSE(run.jail().reads("/Users/me/app/1"));
}

TEST(SeatbeltGoldenTest, Stage2InAWritableRoot) {
  Policy policy = work_policy();
  const Mac mac = Mac().stage2(kIn + "tools/stage2");
  const Launched run = golden("stage2_in_writable", mac, policy);
  EXPECT_TRUE(run.jail().runs(kIn + "tools/stage2"));
  EXPECT_FALSE(run.jail().writes(kIn + "tools/stage2"));
  EXPECT_FALSE(run.jail().renames(kIn + "tools", kIn + "z"));
  EXPECT_TRUE(run.jail().creates(kIn + "tools/new"));
}

// --- programs ------------------------------------------------------------------------------------

// guard 9.8: 156
TEST(SeatbeltGoldenTest, ADirectoryOfProgramsLessOne) {
  const Mac mac = Mac().file("/x/a").file("/x/b");
  const Launched run =
      golden("exec_directory_less_file", mac,
             mac.request(work_policy(), exec_rules({exec_directory("/x")}, {exec_file("/x/b")})));
  EXPECT_TRUE(run.jail().runs("/x/a"));
  EXPECT_FALSE(run.jail().runs("/x/b"));
  EXPECT_TRUE(run.jail().reads("/x/b"));
  EXPECT_FALSE(run.jail().runs("/bin/sh"));
  EXPECT_THAT(run.audit().extras, Contains("seatbelt-exec:allow=1,deny=1"));
}

// guard 9.8: 157
TEST(SeatbeltGoldenTest, AnExclusionIsNotReopenedFurtherIn) {
  const Mac mac = Mac().file("/x/a").file("/x/y/t");
  const Launched run =
      golden("exec_exclusions_last", mac,
             mac.request(work_policy(), exec_rules({exec_directory("/x"), exec_file("/x/y/t")},
                                                   {exec_directory("/x/y")})));
  EXPECT_FALSE(run.jail().runs("/x/y/t"));
  EXPECT_TRUE(run.jail().runs("/x/a"));
}

// guard 9.8: 161
TEST(SeatbeltGoldenTest, AnExclusionUnderBothSpellings) {
  const Mac mac = Mac().file("/private/tmp/x/t").file("/private/tmp/y/t");
  const Launched run =
      golden("exec_both_spellings", mac,
             mac.request(work_policy(), exec_rules({exec_directory("/private/tmp")},
                                                   {exec_directory("/private/tmp/x")})));
  EXPECT_FALSE(run.jail().runs("/private/tmp/x/t"));
  EXPECT_FALSE(run.jail().runs("/tmp/x/t"));
  EXPECT_EQ(run.jail().answer(Operation::kExec, "/tmp/x/t"), Answer::kDenied);
  EXPECT_TRUE(run.jail().runs("/tmp/y/t"));
}

TEST(SeatbeltGoldenTest, EverythingButANamedProgram) {
  const Mac mac = Mac().file("/usr/bin/curl").file("/usr/bin/curly").file(kIn + "cURL");
  const Launched run =
      golden("exec_denied_name", mac,
             mac.request(work_policy(), exec_rules({exec_any()}, {exec_name("curl")})));
  EXPECT_FALSE(run.jail().runs("/usr/bin/curl"));
  EXPECT_FALSE(run.jail().runs(kIn + "cURL"));
  EXPECT_TRUE(run.jail().runs("/usr/bin/curly"));
}

TEST(SeatbeltGoldenTest, NothingMayRun) {
  const Mac mac;
  const Launched run = golden("exec_nothing", mac, mac.request(work_policy(), exec_rules({})));
  EXPECT_FALSE(run.jail().runs("/bin/sh"));
  EXPECT_TRUE(run.jail().runs(kStage2Path));
  EXPECT_THAT(run.profile(), Not(HasSubstr("(allow process-exec)")));
}

TEST(SeatbeltGoldenTest, SupportMayRun) {
  const Mac mac = Mac().file("/x/script");
  const Launched run = golden(
      "exec_support", mac,
      mac.request(work_policy(), exec_rules({exec_file("/x/script")}, {}, paths({"/bin/sh"}))));
  EXPECT_TRUE(run.jail().runs("/x/script"));
  EXPECT_TRUE(run.jail().runs("/bin/sh"));
  EXPECT_FALSE(run.jail().runs("/bin/cat"));
}

TEST(SeatbeltGoldenTest, AnExclusionInAWritableRegionCannotBeMovedAway) {
  const Mac mac = Mac().file(kIn + "a/b/tool");
  const Launched run =
      golden("exec_denied_in_writable", mac,
             mac.request(work_policy(), exec_rules({exec_any()}, {exec_file(kIn + "a/b/tool")})));
  EXPECT_FALSE(run.jail().runs(kIn + "a/b/tool"));
  EXPECT_FALSE(run.jail().renames(kIn + "a", kIn + "z"));
  EXPECT_FALSE(run.jail().renames(kIn + "a/b", kIn + "z"));
  EXPECT_TRUE(run.jail().renames(kIn + "src", kIn + "z"));
}

TEST(SeatbeltGoldenTest, ATableThatConfinesNothing) {
  const Mac mac = Mac().file("/x/a");
  ExecRules rules = exec_rules({exec_any(), exec_directory("/x")});
  rules.restrictive = false;
  const Launched run = golden("exec_no_opinion", mac, mac.request(work_policy(), rules));
  EXPECT_TRUE(run.jail().runs("/bin/sh"));
  EXPECT_TRUE(run.jail().reads("/x/a"));
  EXPECT_THAT(run.audit().extras, Not(Contains(StartsWith("seatbelt-exec"))));
}

// --- length --------------------------------------------------------------------------------------

TEST(SeatbeltGoldenTest, ALongProfileTravelsAsAFile) {
  Policy policy = work_policy();
  policy.protected_paths.clear();
  for (int i = 0; i < 150; ++i) {
    policy.protected_paths.push_back(path(kIn + "keys/" + std::to_string(1000 + i)));
  }
  const Launched run = golden("long_profile", Mac(), policy);
  EXPECT_EQ(run.launch().argv.at(1), "-f");
  EXPECT_EQ(run.launch().argv.at(2), "/dev/fd/6");
  EXPECT_TRUE(run.call().by_descriptor);
  EXPECT_FALSE(run.jail().creates(kIn + "keys/1149"));
}

}  // namespace
}  // namespace loom::seatbelt::test
