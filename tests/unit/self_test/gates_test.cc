#include "app/self_test/gates.h"

#include <gmock/gmock.h>

#include <cerrno>

#include "app/self_test/report_text.h"

namespace loom::app {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// What no report may hold in which nothing was run.
auto HoldsNoPass() {
  return AllOf(Not(HasSubstr("RESULT: OK")), Not(HasSubstr("skips come from the environment")));
}

// cases.md 239
TEST(PlatformGateTest, WindowsIsNotRunAndSaysSo) {
  const auto gate = platform_gate("windows", true);

  ASSERT_TRUE(gate);
  EXPECT_THAT(render_not_run(*gate),
              AllOf(HasSubstr("  NOT RUN   every probe (no jail is built for Windows)\n"),
                    HasSubstr("enforced (0):\nnothing was attempted on Windows"),
                    HasSubstr("\nRESULT: UNSUPPORTED PLATFORM ("), HoldsNoPass()));
}

// cases.md 239
TEST(PlatformGateTest, AnUnknownSystemIsNotRun) {
  EXPECT_TRUE(platform_gate("plan9", true));
  EXPECT_TRUE(platform_gate("", true));
}

// cases.md 239
TEST(PlatformGateTest, LinuxAndMacosPass) {
  EXPECT_EQ(platform_gate("linux", true), std::nullopt);
  EXPECT_EQ(platform_gate("darwin", true), std::nullopt);
}

TEST(PlatformGateTest, ABackendWithoutAJailCountsAsSuchAPlatformEverywhere) {
  for (const char* os : {"linux", "darwin"}) {
    const auto gate = platform_gate(os, false);
    ASSERT_TRUE(gate) << os;
    EXPECT_THAT(gate->result, testing::StartsWith("UNSUPPORTED PLATFORM"));
    EXPECT_THAT(gate->reason, HasSubstr("the backend in use"));
  }
}

// cases.md 239
TEST(PlatformGateTest, ASystemWithoutAJailIsNamedWhateverItsBackendSays) {
  for (const bool has_jail : {false, true}) {
    EXPECT_THAT(platform_gate("windows", has_jail)->remark, HasSubstr("attempted on Windows"));
    EXPECT_THAT(platform_gate("freebsd", has_jail)->remark, HasSubstr("attempted on freebsd"));
  }
}

LaunchTrial failed_trial(NamespaceAnswer answer) {
  return {.launcher_installed = true,
          .jailed = false,
          .problem = "setup: the launcher ended with 1",
          .namespaces = answer};
}

TEST(NestedGateTest, AnInheritedFilterOrDomainIsAJailOfOurKind) {
  for (const auto answer : {NamespaceAnswer::kRefusedByFilter, NamespaceAnswer::kRefusedByDomain}) {
    const auto gate = nested_gate(failed_trial(answer));

    ASSERT_TRUE(gate);
    EXPECT_THAT(
        render_not_run(*gate),
        AllOf(HasSubstr("inside a jail already"), HasSubstr("setup: the launcher ended with 1"),
              HasSubstr("RESULT: NOT RUN (not a pass)\n"), HoldsNoPass()));
  }
}

// spec: a helper inside a profile can make no other
TEST(NestedGateTest, AHelperInsideAProfileOfMacosIsNotRun) {
  LaunchTrial trial = failed_trial(NamespaceAnswer::kMade);
  EXPECT_EQ(nested_gate(trial), std::nullopt);
  trial.already_profiled = true;

  const auto gate = nested_gate(trial);

  ASSERT_TRUE(gate);
  EXPECT_THAT(render_not_run(*gate),
              AllOf(HasSubstr("inside a jail already: a Seatbelt profile"),
                    HasSubstr("RESULT: NOT RUN (not a pass)\n"), HoldsNoPass()));
  trial.jailed = true;
  EXPECT_EQ(nested_gate(trial), std::nullopt);
}

TEST(NestedGateTest, OnlyTheRefusalItselfSaysThatTheHelperIsProfiled) {
  EXPECT_TRUE(says_already_profiled("spawn: already_profiled: this helper is inside a profile"));
  EXPECT_FALSE(says_already_profiled("spawn: not_found: already_profiled: "));
  EXPECT_FALSE(says_already_profiled("setup: the launcher ended with 71"));
  EXPECT_FALSE(says_already_profiled(""));
}

TEST(NestedGateTest, ALauncherThatIsBrokenIsTheProbesOwnMatter) {
  EXPECT_EQ(nested_gate(failed_trial(NamespaceAnswer::kMade)), std::nullopt);
  EXPECT_EQ(nested_gate(failed_trial(NamespaceAnswer::kRefusedOtherwise)), std::nullopt);
}

TEST(NestedGateTest, AJailThatCameAboutPassesWhateverElseIsRefused) {
  LaunchTrial trial = failed_trial(NamespaceAnswer::kRefusedByFilter);
  trial.jailed = true;

  EXPECT_EQ(nested_gate(trial), std::nullopt);
}

TEST(NestedGateTest, WithoutALauncherNothingWasToBeMade) {
  LaunchTrial trial = failed_trial(NamespaceAnswer::kRefusedByFilter);
  trial.launcher_installed = false;

  EXPECT_EQ(nested_gate(trial), std::nullopt);
}

TEST(NestedGateTest, TheProbesWordIsReadBackAndAnythingElseIsNoJail) {
  for (const auto answer :
       {NamespaceAnswer::kMade, NamespaceAnswer::kRefusedByFilter,
        NamespaceAnswer::kRefusedByDomain, NamespaceAnswer::kRefusedOtherwise}) {
    EXPECT_EQ(parse_namespace_token(std::string(namespace_token(answer)) + "\n"), answer);
  }
  EXPECT_EQ(parse_namespace_token("namespace-denied-filter?\n"),
            NamespaceAnswer::kRefusedOtherwise);
}

// cases.md 238
TEST(RootGateTest, ARefusedPermissionIsNotRun) {
  for (const int error : {EPERM, EACCES}) {
    const auto gate = root_gate(error, "/var/tmp");

    ASSERT_TRUE(gate);
    EXPECT_THAT(render_not_run(*gate),
                AllOf(HasSubstr("/var/tmp"), HasSubstr("probably inside a sandbox"),
                      HasSubstr("RESULT: NOT RUN (not a pass)\n"), HoldsNoPass()));
  }
}

// cases.md 238
TEST(RootGateTest, AFullDiskAndSuccessLetTheProbesRun) {
  for (const int error : {0, ENOSPC, ENOENT, EROFS, ENOTDIR}) {
    EXPECT_EQ(root_gate(error, "/var/tmp"), std::nullopt) << error;
  }
}

}  // namespace
}  // namespace loom::app
