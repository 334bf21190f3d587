#include "backends/bwrap/refuse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "backends/bwrap/audit.h"
#include "backends/bwrap/plan.h"
#include "machine.h"

namespace loom::bwrap::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Policy protecting(const std::vector<std::string>& texts) {
  Policy policy = empty_policy();
  policy.protected_paths = paths(texts);
  return policy;
}

std::vector<std::string> widened_of(const Machine& machine, const Policy& policy) {
  const auto judged = audit(plan_of(machine, policy));
  EXPECT_TRUE(judged.has_value());
  return judged ? judged->widened : std::vector<std::string>{};
}

// cases.md 68, 71
TEST(RefuseTest, AbsentProtectedPathUnderASystemRootIsRefusedAndAnExistingOneIsNot) {
  EXPECT_THAT(refusal_of(Machine(), protecting({"/usr/share/x"})), HasSubstr("/usr/share/x"));

  Machine machine;
  machine.directory("/usr/share/x");
  EXPECT_THAT(plan_of(machine, protecting({"/usr/share/x"})).view, Not(IsEmpty()));
  machine.directory("/state/d");
  EXPECT_THAT(plan_of(machine, protecting({"/state/d"})).view, Not(IsEmpty()));
}

// cases.md 65, 66: stage 2 needs no place in the view, so hiding where it is installed costs
// nothing.
TEST(RefuseTest, AProtectedPathAboveTheHelpersOwnProgramsIsAccepted) {
  Machine machine = base_machine();
  machine.directory("/srv/x");
  const JailPlan plan = plan_of(machine, protecting({"/srv/x"}));

  EXPECT_THAT(joined(plan.canonical_argv), HasSubstr(" --tmpfs /srv/x "));
  EXPECT_THAT(joined(plan.canonical_argv), Not(HasSubstr("libexec")));
}

// cases.md 37
TEST(RefuseTest, TheJailReplacesProcDevAndTmpWithItsOwnAndNothingElse) {
  std::vector<std::string> own;
  for (const MountOperation& operation : plan_of(Machine(), empty_policy()).view) {
    const bool shown =
        operation.form == MountForm::kReadOnlyBindTry || operation.form == MountForm::kNone;
    if (!shown) own.push_back(operation.region.str());
  }

  EXPECT_THAT(own, ::testing::UnorderedElementsAre("/proc", "/dev", "/tmp"));
}

// cases.md 69
TEST(RefuseTest, AbsentProtectedPathWhereNothingIsGrantedIsMaskedOnTheJailsOwnRoot) {
  const JailPlan plan = plan_of(Machine(), protecting({"/home/user/.ssh"}));
  EXPECT_THAT(joined(plan.canonical_argv), HasSubstr(" --tmpfs /home/user/.ssh "));
  EXPECT_THAT(joined(plan_of(Machine(), protecting({"/tmp/vault"})).canonical_argv),
              HasSubstr(" --tmpfs /tmp/vault "));
}

// cases.md 72, 73
TEST(RefuseTest, AbsentPathsUnderAMaskedDirectoryAreCoveredByIt) {
  Machine machine = base_machine();
  machine.directory("/").directory("/state/d");
  Policy policy = empty_policy();
  policy.readable_roots = paths({"/"});
  policy.writable_roots = paths({"/work"});
  policy.protected_paths = paths({"/state/d/", "/state/d/x/two", "/state/d/x/one"});
  EXPECT_THAT(widened_of(machine, policy), IsEmpty());

  policy.protected_paths = paths({"/state/d/x/two", "/state/d/x/one"});
  EXPECT_THAT(refusal_of(machine, policy), HasSubstr("/state/d/x/one, /state/d/x/two"));
}

// cases.md 30, 74
TEST(RefuseTest, ProtectedPathAtOrAboveProcIsRefusedByName) {
  Machine machine;
  machine.directory("/proc").directory("/");
  EXPECT_THAT(refusal_of(machine, protecting({"/proc"})), HasSubstr("/proc"));
  EXPECT_THAT(refusal_of(machine, protecting({"/"})), HasSubstr("protected path /"));
  machine.linked("/p", "/proc", {{.place = path("/p"), .target = "proc"}});
  EXPECT_THAT(refusal_of(machine, protecting({"/p"})), HasSubstr("/p"));
  EXPECT_THAT(refusal_of(machine, protecting({"/proc/x"})), HasSubstr("/proc/x"));
  EXPECT_THAT(refusal_of(machine, protecting({"/dev/x"})), HasSubstr("/dev/x"));
}

TEST(RefuseTest, ProtectedPathThatExistsBelowProcIsRefusedByNameAndOneBesideItIsNot) {
  Machine machine;
  machine.directory("/proc/sys").directory("/procession");
  machine.linked("/state/sys", "/proc/sys", {{.place = path("/state/sys"), .target = "/proc/sys"}});
  EXPECT_THAT(refusal_of(machine, protecting({"/proc/sys"})), HasSubstr("path /proc/sys "));
  EXPECT_THAT(refusal_of(machine, protecting({"/state/sys"})), HasSubstr("path /state/sys "));
  EXPECT_THAT(joined(plan_of(machine, protecting({"/procession"})).canonical_argv),
              HasSubstr(" --tmpfs /procession "));
}

TEST(RefuseTest, TheJailsOwnDeviceDirectoryIsNotProtectedAndOneBesideItIs) {
  Machine machine;
  machine.directory("/dev").directory("/devices");
  machine.linked("/state/dev", "/dev", {{.place = path("/state/dev"), .target = "/dev"}});
  EXPECT_THAT(refusal_of(machine, protecting({"/dev"})), HasSubstr("protected path /dev"));
  EXPECT_THAT(refusal_of(machine, protecting({"/state/dev"})), HasSubstr("protected path /dev"));
  EXPECT_THAT(joined(plan_of(machine, protecting({"/devices"})).canonical_argv),
              HasSubstr(" --tmpfs /devices "));
}

TEST(RefuseTest, MountThatWouldBringTheHostsProcIsRefusedByNameAndOneBesideItIsNot) {
  Machine machine;
  machine.directory("/").directory("/proc").directory("/proc/sys").directory("/procession");
  machine.linked("/state/p", "/proc", {{.place = path("/state/p"), .target = "/proc"}});
  for (const char* at : {"/", "/proc", "/proc/sys", "/state/p"}) {
    for (const bool writable : {false, true}) {
      Policy policy = empty_policy();
      policy.mounts = {mount(at, writable, true)};
      EXPECT_THAT(refusal_of(machine, policy), HasSubstr("mount " + std::string(at) + " would"));
    }
  }
  Policy policy = empty_policy();
  policy.mounts = {mount("/procession", true, true)};
  EXPECT_THAT(joined(executed_of(machine, policy)), HasSubstr(" --bind /procession /procession "));
}

// cases.md 75
TEST(RefuseTest, MissingWritableRootIsNamedWithItsList) {
  Policy policy = empty_policy();
  policy.writable_roots = paths({"/work", "/absent"});
  EXPECT_EQ(refusal_of(base_machine(), policy),
            "writable_roots: /absent (No such file or directory)");
}

// cases.md 76
TEST(RefuseTest, MissingScratchIsBlamedOnTheScratch) {
  Policy policy = empty_policy();
  policy.scratch = host_scratch("/absent");
  EXPECT_EQ(refusal_of(Machine(), policy), "scratch: /absent (No such file or directory)");
}

// cases.md 77
TEST(RefuseTest, MissingReadableRootIsAcceptedAndNoted) {
  Policy policy = empty_policy();
  policy.readable_roots = paths({"/absent"});
  EXPECT_THAT(plan_of(Machine(), policy).notes, Contains(HasSubstr("/absent")));
}

// cases.md 78
TEST(RefuseTest, UnsearchableParentGivesTheKernelsReason) {
  Policy policy = empty_policy();
  policy.writable_roots = paths({"/closed/w"});
  EXPECT_EQ(refusal_of(Machine().missing("/closed/w", EACCES), policy),
            "writable_roots: /closed/w (Permission denied)");
}

// cases.md 79, 80
TEST(RefuseTest, RequiredMountMustBeThereWithAndWithoutBubblewrap) {
  Machine machine;
  machine.directory("/srv/here");
  Policy policy = empty_policy();
  policy.mounts = {mount("/srv/here", false, true), mount("/srv/gone", false, true),
                   mount("/srv/optional", true, false)};
  const std::string expected = "mounts: /srv/gone (No such file or directory)";
  EXPECT_EQ(refusal_of(machine, policy), expected);
  Machine degraded = machine;
  degraded.without_launcher();
  EXPECT_EQ(refusal_of(degraded, policy), expected);

  policy.mounts = {mount("/srv/here", false, true), mount("/srv/optional", true, false)};
  const std::string executed = joined(executed_of(machine, policy));
  EXPECT_THAT(executed, HasSubstr(" --ro-bind /srv/here /srv/here "));
  EXPECT_THAT(executed, Not(HasSubstr("optional")));
}

// cases.md 81
TEST(RefuseTest, MissingMountIsRefusedBeforeAMissingWritableRoot) {
  Policy policy = empty_policy();
  policy.mounts = {mount("/srv/gone", false, true)};
  policy.writable_roots = paths({"/absent"});
  EXPECT_THAT(refusal_of(Machine(), policy),
              AllOf(HasSubstr("/srv/gone"), Not(HasSubstr("/absent"))));
}

// D13: /work/link -> /srv/key lies where the command can replace it.
TEST(RefuseTest, LinkInAWritableRegionIsMaskedAtItsTargetAndReported) {
  Machine machine = base_machine();
  machine.file("/srv/key").directory("/data").directory("/keep");
  machine.linked("/work/link", "/srv/key", {{.place = path("/work/link"), .target = "/srv/key"}});
  machine.linked("/work/data", "/data", {{.place = path("/work/data"), .target = "/data"}});
  machine.linked("/keep/link", "/srv/key", {{.place = path("/keep/link"), .target = "/srv/key"}});
  Policy policy = base_policy();
  policy.protected_paths = paths({"/work/link"});
  policy.readable_roots = paths({"/work/data"});
  EXPECT_THAT(joined(argv_of(machine, policy)), HasSubstr(" --ro-bind /dev/null /srv/key "));
  EXPECT_THAT(
      widened_of(machine, policy),
      testing::ElementsAre(
          "mounts: protected path /work/link is reached through a link the command can replace",
          "mounts: readable root /work/data is reached through a link the command can replace"));

  policy.protected_paths = paths({"/keep/link"});
  policy.readable_roots = {};
  EXPECT_THAT(widened_of(machine, policy), IsEmpty());
}

TEST(RefuseTest, LinkToNothingInAWritableRegionIsRefusedAndElsewhereItIsNot) {
  Machine machine = base_machine();
  machine.directory("/keep");
  machine.linked("/work/link", "/srv/none", {{.place = path("/work/link"), .target = "/srv/none"}});
  machine.linked("/keep/link", "/srv/none", {{.place = path("/keep/link"), .target = "/srv/none"}});
  Policy policy = base_policy();
  policy.protected_paths = paths({"/work/link"});
  EXPECT_THAT(refusal_of(machine, policy),
              AllOf(HasSubstr("protected path /work/link"), HasSubstr("put the link elsewhere")));
  policy.protected_paths = paths({"/keep/link"});
  EXPECT_THAT(joined(plan_of(machine, policy).canonical_argv), HasSubstr(" --tmpfs /srv/none "));
}

TEST(RefuseTest, MountThatMeetsAProtectedPathBehindALinkIsRefused) {
  Machine machine = base_machine();
  machine.directory("/work/.git/hooks").directory("/srv/cap");
  machine.linked("/srv/alias", "/work/.git/hooks",
                 {{.place = path("/srv/alias"), .target = "/work/.git/hooks"}});
  Policy policy = base_policy();
  policy.mounts = {mount("/srv/alias", false, true)};
  EXPECT_THAT(refusal_of(machine, policy),
              AllOf(HasSubstr("mount /srv/alias"), HasSubstr("/work/.git")));
  policy.protected_paths = paths({"/work/.git/hooks", "/work/.env"});
  machine.linked("/srv/above", "/work/.git",
                 {{.place = path("/srv/above"), .target = "/work/.git"}});
  policy.mounts = {mount("/srv/above", false, true)};
  EXPECT_THAT(refusal_of(machine, policy), HasSubstr("protected path /work/.git/hooks"));
  policy.mounts = {mount("/srv/cap", false, true)};
  EXPECT_FALSE(plan_of(machine, policy).view.empty());
}

TEST(RefuseTest, MoreArgumentsThanBubblewrapTakesAreRefusedWithTheLimit) {
  Machine machine;
  const auto policy_with = [&machine](std::size_t masks) {
    Policy policy = empty_policy();
    for (std::size_t i = 0; i < masks; ++i) {
      const std::string at = "/keys/" + std::to_string(i);
      machine.file(at);
      policy.protected_paths.push_back(path(at));
    }
    return policy;
  };
  EXPECT_EQ(plan_of(machine, policy_with(2'900)).canonical_argv.size(), 8'757U);
  EXPECT_THAT(refusal_of(machine, policy_with(2'950)), HasSubstr("8900"));
}

KernelFacts kernel_with(std::uint32_t landlock_abi, LauncherFacts launcher) {
  return {.landlock_abi = landlock_abi,
          .landlock_reason = landlock_abi == 0 ? "not in this kernel" : "",
          .seccomp = true,
          .seccomp_reason = {},
          .launcher = std::move(launcher)};
}

// guard 5.2: P3
TEST(RefuseTest, ANetworkThatCannotBeCutIsRefusedInBubblewrapsWordsAndAnOpenOneIsNot) {
  LauncherFacts launcher;
  launcher.no_network = "loopback: Failed RTM_NEWADDR";
  Machine machine = base_machine();
  machine.kernel(kernel_with(7, launcher));
  Policy policy = base_policy();
  EXPECT_THAT(refusal_of(machine, policy),
              AllOf(HasSubstr("network"), HasSubstr("loopback: Failed RTM_NEWADDR")));
  policy.network = {.mode = NetworkMode::kProxy, .allow = {}, .proxy = "p:1"};
  EXPECT_THAT(refusal_of(machine, policy), HasSubstr("loopback"));
  policy.network = {.mode = NetworkMode::kFull, .allow = {}, .proxy = {}};
  EXPECT_FALSE(plan_of(machine, policy).view.empty());
}

// field B36
TEST(RefuseTest, TheHostsProcessTableIsShownOnlyWhereLandlockKeepsItShut) {
  LauncherFacts launcher;
  launcher.no_pids = "Can't mount proc";
  Machine machine = base_machine();
  machine.kernel(kernel_with(0, launcher));
  EXPECT_THAT(
      refusal_of(machine, base_policy()),
      AllOf(HasSubstr("Can't mount proc"), HasSubstr("Landlock"), HasSubstr("not in this kernel")));
  machine.kernel(kernel_with(1, launcher));
  EXPECT_FALSE(plan_of(machine, base_policy()).view.empty());
  machine.kernel(kernel_with(0, {}));
  EXPECT_FALSE(plan_of(machine, base_policy()).view.empty());
}

TEST(RefuseTest, WhatThisBackendCannotJudgeIsRefused) {
  PlanRequest request = base_machine().request(base_policy());
  request.policy.version = 4;
  EXPECT_EQ(plan(request).error().code, ErrorCode::kUnsupported);

  request = base_machine().request(base_policy());
  request.command.argv.clear();
  EXPECT_EQ(plan(request).error().code, ErrorCode::kInvalidRequest);

  request = base_machine().request(base_policy());
  request.keep_capabilities = {"CAP_NET_RAW"};
  EXPECT_TRUE(plan(request).has_value());
  request.keep_capabilities = {"CAP_FLY"};
  EXPECT_THAT(plan(request).error().message, HasSubstr("CAP_FLY"));

  EXPECT_THAT(refusal_of(base_machine().without_stage2(), base_policy()), HasSubstr("stage 2"));
}

}  // namespace
}  // namespace loom::bwrap::test
