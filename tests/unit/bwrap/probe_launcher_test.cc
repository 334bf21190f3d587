#include "backends/bwrap/probe_launcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "backends/bwrap/probe.h"
#include "machine.h"

namespace loom::bwrap::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kStage2Ran =
    "loom-exec[stage2]: document: descriptors 3 to 5: this program is started by loom-exec, not by "
    "hand: Bad file descriptor\n";

std::string options_of(const LaunchSpec& launch) {
  std::string text = " ";
  for (const MemoryFile& file : launch.memory_files) {
    for (const char byte : as_text(file.bytes)) text += byte == '\0' ? ' ' : byte;
  }
  return text;
}

// An imagined bubblewrap: fails with the words of the first option, in its order, that it refuses.
class FakeHost final : public HostServices {
 public:
  void log(LogLevel /*level*/, std::string_view /*utf8*/) override {}
  Result<TrialResult> try_launch(const LaunchSpec& launch, std::uint32_t /*ms*/) override {
    launches.push_back(options_of(launch));
    if (instead) return instead(launches.size());
    for (const auto& [option, words] : refused) {
      if (launches.back().find(' ' + option + ' ') == std::string::npos) continue;
      return TrialResult{.code = 1, .timed_out = false, .output = "bwrap: " + words + "\n"};
    }
    return TrialResult{.code = 126, .timed_out = false, .output = kStage2Ran};
  }
  Result<std::int32_t> spawn(const LaunchSpec& /*launch*/) override {
    return fail(ErrorCode::kBackend, "not here");
  }
  Result<ExecObject> next_exec_object() override { return fail(ErrorCode::kBackend, "not here"); }
  Result<std::vector<std::int32_t>> children(std::int32_t /*pid*/) override {
    return fail(ErrorCode::kBackend, "not here");
  }

  std::vector<std::pair<std::string, std::string>> refused;
  std::function<Result<TrialResult>(std::size_t launch)> instead;
  std::vector<std::string> launches;
};

LauncherFacts facts_of(FakeHost& host, Surroundings around = {}) {
  const auto found = probe_launcher(host, [&around] { return around; });
  EXPECT_TRUE(found.has_value()) << (found ? "" : found.error().message);
  return found ? *found : LauncherFacts{};
}

std::string unknown_of(FakeHost& host, Surroundings around = {}) {
  const auto found = probe_launcher(host, [&around] { return around; });
  EXPECT_FALSE(found.has_value());
  return found ? std::string() : found.error().message;
}

LauncherFacts everything() {
  LauncherFacts facts;
  facts.tried = true;
  facts.by_handle = true;
  return facts;
}

constexpr const char* kNoProc = "Can't mount proc on /newroot/proc: Operation not permitted";
constexpr const char* kNoNamespace = "Creating new namespace failed: Operation not permitted";

TEST(ProbeLauncherTest, WhereEverythingWorksOneLaunchShowsIt) {
  FakeHost host;
  EXPECT_EQ(facts_of(host), everything());
  ASSERT_EQ(host.launches.size(), 1U);
  EXPECT_THAT(host.launches.front(),
              AllOf(HasSubstr(" --die-with-parent --new-session --unshare-user --disable-userns "
                              "--unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try "
                              "--unshare-net "),
                    HasSubstr(" --perms 0000 --tmpfs /closed --remount-ro /closed "),
                    HasSubstr(" --ro-bind-fd 60 /null "), HasSubstr(" --dev /dev "),
                    HasSubstr(" --proc /proc "), HasSubstr(" --remount-ro / ")));
}

TEST(ProbeLauncherTest, ATrialLendsWhatItMountsAndRunsStage2WithoutWork) {
  const FileIdentity source{.device = 5, .inode = 6};
  const LaunchSpec launch = trial_launch(everything(), source);
  EXPECT_EQ(launch.image, ImageKind::kLauncher);
  EXPECT_THAT(launch.argv, ElementsAre("bwrap", "--args", "10", "/proc/self/fd/11"));
  EXPECT_THAT(launch.environment, IsEmpty());
  EXPECT_EQ(launch.report_number, -1);
  ASSERT_EQ(launch.handles.size(), 2U);
  EXPECT_EQ(launch.handles[0].role, LentHandle::Role::kStage2);
  EXPECT_EQ(launch.handles[1].role, LentHandle::Role::kSource);
  EXPECT_EQ(launch.handles[1].child_number, 60);
  EXPECT_EQ(launch.handles[1].path, path("/dev/null"));
  EXPECT_EQ(launch.handles[1].identity, source);
}

struct PartCase {
  const char* option;
  const char* words;
  std::string LauncherFacts::*part;
  const char* instead;  // what the launch has in its place
};

class PartTest : public ::testing::TestWithParam<PartCase> {};

// guard 5.2: I6, I8, I9, P1, P3
TEST_P(PartTest, OnlyWhatFailsIsLeftOutAndItsReasonIsBubblewrapsOwn) {
  FakeHost host;
  host.refused = {{GetParam().option, GetParam().words}};
  LauncherFacts found = facts_of(host);
  EXPECT_THAT(found.*GetParam().part, HasSubstr(GetParam().words));
  (found.*GetParam().part).clear();
  found.by_handle = true;
  EXPECT_EQ(found, everything());

  LauncherFacts left_out = everything();
  left_out.*GetParam().part = "x";
  left_out.by_handle = left_out.no_handles.empty();
  const std::string options = options_of(trial_launch(left_out, {}));
  EXPECT_THAT(options, AllOf(Not(HasSubstr(std::string(" ") + GetParam().option + " ")),
                             HasSubstr(GetParam().instead)));
}

INSTANTIATE_TEST_SUITE_P(
    All, PartTest,
    ::testing::Values(
        PartCase{"--ro-bind-fd", "Unknown option --ro-bind-fd", &LauncherFacts::no_handles,
                 " --ro-bind /dev/null /null "},
        PartCase{"--ro-bind-fd", "Can't bind mount", &LauncherFacts::no_handles,
                 " --ro-bind /dev/null /null "},
        PartCase{"--proc", kNoProc, &LauncherFacts::no_pids, " --ro-bind /proc /proc "},
        PartCase{"--unshare-pid", kNoNamespace, &LauncherFacts::no_pids, " --ro-bind /proc /proc "},
        PartCase{"--unshare-cgroup-try", kNoNamespace, &LauncherFacts::no_cgroup,
                 " --unshare-uts --unshare-net "},
        PartCase{"--dev", "Can't mount devpts on /newroot/dev/pts: Permission denied",
                 &LauncherFacts::no_devices, " --dev-bind /dev/null /dev/null "},
        PartCase{"--dev", "something unheard of", &LauncherFacts::no_devices,
                 " --tmpfs /dev --dev-bind "},
        PartCase{"--unshare-net", "loopback: Failed RTM_NEWADDR: Operation not permitted",
                 &LauncherFacts::no_network, " --unshare-cgroup-try --ro-bind-fd "},
        PartCase{"/../oldroot", "Can't mount tmpfs on /newroot/../oldroot: no",
                 &LauncherFacts::no_cover, " --proc /proc --perms 0000 "},
        PartCase{"--symlink", "Can't make symlink at /covered: File exists",
                 &LauncherFacts::no_cover, " --proc /proc --perms 0000 "},
        PartCase{"--disable-userns", "Unknown option --disable-userns",
                 &LauncherFacts::no_userns_ban, " --unshare-uts --unshare-user-try "},
        PartCase{"--disable-userns",
                 "cannot open /proc/sys/user/max_user_namespaces: Read-only file system",
                 &LauncherFacts::no_userns_ban, " --unshare-uts --unshare-user-try "},
        PartCase{"/closed", "Can't remount readonly on /newroot/closed: Operation not permitted",
                 &LauncherFacts::no_closed_masks, " --remount-ro /led --remount-ro / "},
        PartCase{"/../loom-exec-places/0/led",
                 "Can't mount tmpfs on /newroot/../loom-exec-places/0/led: no",
                 &LauncherFacts::no_cover, " --proc /proc --perms 0000 "},
        PartCase{"/led", "Can't remount readonly on /newroot/led", &LauncherFacts::no_cover,
                 " --proc /proc --perms 0000 "},
        PartCase{"/behind", "Can't remount readonly on /newroot/behind", &LauncherFacts::no_cover,
                 " --proc /proc --perms 0000 "}));

TEST(ProbeLauncherTest, WordsThatHintAtThePartSaveLaunches) {
  FakeHost host;
  host.refused = {{"--proc", kNoProc}};
  facts_of(host);
  EXPECT_EQ(host.launches.size(), 3U);  // all of it, without the part, and all of it once more
}

TEST(ProbeLauncherTest, SeveralPartsAreFoundOneByOne) {
  FakeHost host;
  host.refused = {{"--proc", kNoProc}, {"--unshare-net", "loopback: no"}, {"--dev", "devpts: no"}};
  const LauncherFacts found = facts_of(host);
  EXPECT_THAT(found.no_pids, StartsWith(kNoProc));
  EXPECT_EQ(found.no_network, "loopback: no");
  EXPECT_THAT(found.no_devices, StartsWith("devpts: no"));
  EXPECT_TRUE(found.by_handle);
  EXPECT_EQ(found.no_cgroup, "");
  EXPECT_EQ(found.broken, "");
}

TEST(ProbeLauncherTest, TooOldIsToldFromBroken) {
  FakeHost old;
  old.refused = {{"--ro-bind-fd", "Unknown option --ro-bind-fd"}};
  const LauncherFacts found = facts_of(old);
  EXPECT_FALSE(found.by_handle);
  EXPECT_EQ(found.broken, "");
  EXPECT_THAT(found.no_handles, AllOf(StartsWith("too old"), HasSubstr("--ro-bind-fd")));

  FakeHost none;
  none.refused = {{"--unshare-ipc", kNoNamespace}};
  const LauncherFacts broken = facts_of(none);
  EXPECT_EQ(broken.broken, std::string("bubblewrap builds no jail here: ") + kNoNamespace);
  EXPECT_FALSE(broken.by_handle);
  EXPECT_EQ(broken.no_handles, "");
}

TEST(ProbeLauncherTest, PartsThatFailOnlyTogetherAreNoJail) {
  FakeHost host;
  host.instead = [&host](std::size_t) -> Result<TrialResult> {
    const std::string& options = host.launches.back();
    const bool both = options.find(" --dev ") != std::string::npos &&
                      options.find(" --unshare-net ") != std::string::npos;
    if (!both) return TrialResult{.code = 126, .timed_out = false, .output = kStage2Ran};
    return TrialResult{.code = 1, .timed_out = false, .output = "bwrap: odd\n"};
  };
  EXPECT_EQ(facts_of(host).broken, "bubblewrap builds no jail here: odd");
}

// field B34
TEST(ProbeLauncherTest, TheRestrictionOfUserNamespacesIsNamedWithWhatHelps) {
  const std::vector<std::string> cases = {"setting up uid map: Permission denied",
                                          "loopback: Failed RTM_NEWADDR: Operation not permitted"};
  for (const std::string& words : cases) {
    FakeHost host;
    host.refused = {{"--unshare-ipc", words}};
    EXPECT_THAT(facts_of(host, {.restricts_namespaces = true, .forbids_namespaces = false}).broken,
                AllOf(HasSubstr(words), HasSubstr("kernel.apparmor_restrict_unprivileged_userns"),
                      HasSubstr("/etc/apparmor.d/bwrap")));
    EXPECT_THAT(facts_of(host).broken, Not(HasSubstr("apparmor")));
  }
  FakeHost unrelated;
  unrelated.refused = {{"--unshare-ipc", "execvp true: No such file or directory"}};
  EXPECT_THAT(
      facts_of(unrelated, {.restricts_namespaces = true, .forbids_namespaces = false}).broken,
      Not(HasSubstr("apparmor")));
}

// guard 5.2: I7
TEST(ProbeLauncherTest, WhatOnlyVersion3AsksForCostsNoOtherPartAndFewLaunches) {
  FakeHost host;
  host.refused = {{"--disable-userns", "--disable-userns is not supported in setuid mode"}};
  const LauncherFacts found = facts_of(host);
  EXPECT_EQ(found.no_userns_ban, "--disable-userns is not supported in setuid mode");
  EXPECT_TRUE(found.by_handle);
  EXPECT_EQ(found.no_pids + found.no_cgroup + found.no_devices + found.no_network + found.no_cover +
                found.no_closed_masks,
            "");
  EXPECT_EQ(host.launches.size(), 3U);
}

// The group is what finds the processes then.
TEST(ProbeLauncherTest, WithoutAPidNamespaceNobodyLeavesTheProcessGroup) {
  LauncherFacts shared = everything();
  shared.no_pids = "why";
  EXPECT_THAT(options_of(trial_launch(shared, {})), Not(HasSubstr("--new-session")));
  EXPECT_THAT(options_of(trial_launch(everything(), {})), HasSubstr(" --new-session "));
}

// field B35, B41
TEST(ProbeLauncherTest, TheUsualCauseIsNamedWhereTheWordsFit) {
  FakeHost masked;
  masked.refused = {{"--proc", kNoProc}};
  EXPECT_THAT(facts_of(masked).no_pids, HasSubstr("container runtime"));
  FakeHost other;
  other.refused = {{"--unshare-pid", kNoNamespace}};
  EXPECT_THAT(facts_of(other).no_pids, Not(HasSubstr("container runtime")));
  FakeHost inside;
  inside.refused = {{"--unshare-ipc", "Failed to make / slave: Operation not permitted"}};
  EXPECT_THAT(facts_of(inside).broken, HasSubstr("Landlock domain"));
}

TrialResult said(const std::string& words) {
  return {.code = 1, .timed_out = false, .output = "bwrap: " + words + "\n"};
}

// field B42
TEST(ProbeLauncherTest, WhatMayPassIsNotKnownAndNothingIsDecided) {
  FakeHost host;
  host.instead = [](std::size_t) -> Result<TrialResult> {
    return TrialResult{.code = 137, .timed_out = true, .output = "bwrap: something\n"};
  };
  EXPECT_THAT(unknown_of(host), HasSubstr("not known"));
  EXPECT_EQ(host.launches.size(), 1U);
  for (const char* words : {"Creating new namespace failed: Resource temporarily unavailable",
                            "Creating new namespace failed: Cannot allocate memory",
                            "Can't create file: Too many open files",
                            "Creating new namespace failed: nesting depth or "
                            "/proc/sys/user/max_*_namespaces exceeded (ENOSPC)"}) {
    host.instead = [words](std::size_t) -> Result<TrialResult> { return said(words); };
    EXPECT_THAT(unknown_of(host), HasSubstr(words));
  }
  host.instead = [](std::size_t) -> Result<TrialResult> {
    return fail(ErrorCode::kSystem, "fork: Resource temporarily unavailable");
  };
  EXPECT_THAT(unknown_of(host), HasSubstr("fork"));
  // Also in the middle of finding out.
  host.instead = [](std::size_t launch) -> Result<TrialResult> {
    if (launch % 3 == 0) return said("x: Cannot allocate memory");
    return said(kNoNamespace);
  };
  host.launches.clear();
  EXPECT_THAT(unknown_of(host), HasSubstr("Cannot allocate memory"));
}

TEST(ProbeLauncherTest, ALimitOfZeroNamespacesDoesNotPass) {
  FakeHost host;
  host.refused = {{"--unshare-ipc", "Creating new namespace failed: … exceeded (ENOSPC)"}};
  EXPECT_THAT(facts_of(host, {.restricts_namespaces = false, .forbids_namespaces = true}).broken,
              HasSubstr("ENOSPC"));
  host.refused = {{"--unshare-cgroup-try", "Creating new namespace failed: … exceeded (ENOSPC)"}};
  const LauncherFacts found =
      facts_of(host, {.restricts_namespaces = false, .forbids_namespaces = true});
  EXPECT_THAT(found.no_cgroup, HasSubstr("ENOSPC"));
  EXPECT_EQ(found.broken, "");
}

// field B42
TEST(ProbeLauncherTest, WhatFailedOnceAndThenWorksIsNotLeftOut) {
  FakeHost host;
  host.instead = [](std::size_t launch) -> Result<TrialResult> {
    if (launch == 1) return said(kNoProc);
    return TrialResult{.code = 126, .timed_out = false, .output = kStage2Ran};
  };
  EXPECT_EQ(facts_of(host), everything());
}

// cases.md 110, 235
TEST(ProbeLauncherTest, ALauncherWithoutBubblewrapsWordsIsNotBelievedThatItCannot) {
  const std::vector<TrialResult> answers = {
      {.code = 1, .timed_out = false, .output = ""},
      {.code = 0, .timed_out = false, .output = ""},
      {.code = 0, .timed_out = false, .output = kStage2Ran},
      {.code = 126, .timed_out = false, .output = "loom-exec says no\n"},
      {.code = 139, .timed_out = false, .output = "usage: something else\n"}};
  for (const TrialResult& answer : answers) {
    FakeHost host;
    host.instead = [&answer](std::size_t) -> Result<TrialResult> { return answer; };
    LauncherFacts found = facts_of(host);
    EXPECT_FALSE(found.by_handle);
    EXPECT_NE(found.no_handles, "");
    EXPECT_EQ(host.launches.size(), 1U);
    found.by_handle = true;
    found.no_handles.clear();
    EXPECT_EQ(found, everything());
  }
  FakeHost script;
  script.instead = [](std::size_t) -> Result<TrialResult> {
    return fail(ErrorCode::kUnsupported, "start of bwrap: execute: No such file or directory");
  };
  EXPECT_EQ(facts_of(script).broken, "");
}

TEST(ProbeLauncherTest, WhatBubblewrapPrintsBesidesDoesNotHideThatStage2Ran) {
  FakeHost host;
  host.instead = [](std::size_t) -> Result<TrialResult> {
    return TrialResult{
        .code = 126, .timed_out = false, .output = std::string("bwrap: a warning\n") + kStage2Ran};
  };
  EXPECT_EQ(facts_of(host), everything());
}

TEST(ProbeTest, EachKernelLayerIsThereOrHasAReason) {
  FakeHost host;
  const auto bytes = probe({.phase = ProbePhase::kBeforeHello, .facts = {}}, host);
  ASSERT_TRUE(bytes);
  const auto facts = decode_kernel_facts(*bytes);
  ASSERT_TRUE(facts);
  EXPECT_NE(facts->landlock_abi > 0, !facts->landlock_reason.empty());
  EXPECT_NE(facts->seccomp, !facts->seccomp_reason.empty());
  EXPECT_FALSE(facts->launcher.tried);
  EXPECT_THAT(host.launches, IsEmpty());
}

TEST(ProbeTest, BubblewrapIsTriedBeforeThePlanAndOnlyWhereItAndStage2AreThere) {
  FakeHost host;
  const HostFacts known = Machine().facts(empty_policy());
  const auto bytes = probe({.phase = ProbePhase::kBeforePlan, .facts = known}, host);
  ASSERT_TRUE(bytes);
  const auto facts = decode_kernel_facts(*bytes);
  ASSERT_TRUE(facts);
  EXPECT_TRUE(facts->launcher.tried && facts->launcher.by_handle);
  EXPECT_EQ(facts->landlock_abi, 7U);  // as it was found before the hello
  EXPECT_EQ(host.launches.size(), 1U);

  for (const Machine& without : {Machine().without_launcher(), Machine().without_stage2()}) {
    FakeHost idle;
    const HostFacts lacking = without.facts(empty_policy());
    EXPECT_EQ(*probe({.phase = ProbePhase::kBeforePlan, .facts = lacking}, idle), lacking.backend);
    EXPECT_THAT(idle.launches, IsEmpty());
  }
}

}  // namespace
}  // namespace loom::bwrap::test
