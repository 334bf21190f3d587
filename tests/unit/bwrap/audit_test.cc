#include "backends/bwrap/audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "backends/bwrap/view.h"
#include "machine.h"

namespace loom::bwrap::test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

// A memo with the policy's entries, as plan would write it.
RunMemo memo_of(const Machine& machine, const Policy& policy) {
  RunMemo memo;
  memo.jailed = true;
  memo.scratch_is_tmpfs = policy.scratch.is_tmpfs();
  const ResolvedPolicy resolved = machine.resolve(policy);
  const auto add = [&memo](const NamedPath& at, PathRole role) {
    memo.subjects.push_back({.role = role,
                             .writable = false,
                             .present = !at.is_missing(),
                             .written = at.written,
                             .real = at.real,
                             .identity = at.identity});
  };
  for (const auto& at : resolved.readable) add(at, PathRole::kReadableRoot);
  for (const auto& at : resolved.writable) add(at, PathRole::kWritableRoot);
  for (const auto& at : resolved.protected_paths) add(at, PathRole::kProtected);
  for (const auto& at : resolved.mounts) add(at.at, PathRole::kMount);
  add(resolved.scratch, PathRole::kScratch);
  return memo;
}

// The audit of a policy that `plan` might refuse, with `later` mounted after everything else.
ViewAudit audit_of(const Machine& machine, const Policy& policy,
                   const std::vector<std::string>& later = {}) {
  auto view = build_view(machine.resolve(policy));
  for (const std::string& region : later) {
    view.push_back({.mount_class = MountClass::kWritable,
                    .form = MountForm::kBind,
                    .region = path(region),
                    .written = path(region),
                    .identity = identity_of(region),
                    .parent_identity = {}});
  }
  return audit_view(view, memo_of(machine, policy));
}

Policy small_policy() {
  Policy policy = empty_policy();
  policy.writable_roots = paths({"/work"});
  policy.readable_roots = paths({"/usr"});
  policy.protected_paths = paths({"/work/.env"});
  return policy;
}

// cases.md 85
TEST(AuditTest, CountsWhatEachEntryOfThePolicyGot) {
  const auto judged = audit(plan_of(base_machine(), small_policy()));

  ASSERT_TRUE(judged);
  ASSERT_THAT(judged->when_witnessed, SizeIs(2));
  EXPECT_EQ(judged->when_witnessed[0], "bwrap");
  EXPECT_THAT(judged->when_witnessed[1],
              MatchesRegex("mounts:ro=1,rw=1,mask=1,bind_ro=0,bind_rw=0,scratch=tmpfs,"
                           "base=minimal,plan=[0-9a-f]{16}"));
  EXPECT_THAT(judged->widened, IsEmpty());
  EXPECT_THAT(judged->when_silent, ElementsAre(StartsWith("skip:bwrap: ")));
  EXPECT_TRUE(judged->expects_witness);
}

// cases.md 86, 87
TEST(AuditTest, MountLaidOverAMaskOrAReadableRootIsNoticed) {
  const ViewAudit over_mask = audit_of(base_machine(), small_policy(), {"/work"});
  EXPECT_THAT(over_mask.applied, HasSubstr("mask=0"));
  EXPECT_THAT(over_mask.widened, ElementsAre(AllOf(StartsWith("mounts: protected path /work/.env"),
                                                   HasSubstr("`--bind /work /work`"))));

  EXPECT_THAT(
      audit_of(base_machine(), small_policy(), {"/usr"}).widened,
      ElementsAre(StartsWith("mounts: readable root /usr is writable: `--bind /usr /usr`")));
}

// cases.md 88
TEST(AuditTest, RootThatIsReadableAndWritableIsNoDefect) {
  Policy policy = small_policy();
  policy.readable_roots = paths({"/work"});
  const ViewAudit judged = audit_of(base_machine(), policy);
  EXPECT_THAT(judged.applied, HasSubstr("ro=1,rw=1,"));
  EXPECT_THAT(judged.widened, IsEmpty());
}

// cases.md 89
TEST(AuditTest, MountsAreCountedByTheirAccess) {
  Policy policy = small_policy();
  policy.mounts = {mount("/srv/a", false, false), mount("/srv/b", true, false)};
  const ViewAudit judged = audit_of(base_machine(), policy);
  EXPECT_THAT(judged.applied, HasSubstr("bind_ro=1,bind_rw=1,"));
  EXPECT_THAT(judged.widened, IsEmpty());
}

// cases.md 90
TEST(AuditTest, WritableRootUnderAReadOnlyMountIsNamedAndNotCounted) {
  Policy policy = empty_policy();
  policy.writable_roots = paths({"/home/o/work"});
  policy.mounts = {mount("/home/o", false, true)};
  const ViewAudit judged = audit_of(Machine(), policy);
  EXPECT_THAT(judged.applied, HasSubstr("rw=0,"));
  EXPECT_THAT(judged.widened,
              ElementsAre(AllOf(StartsWith("mounts: writable root /home/o/work is read-only: "),
                                HasSubstr("`--ro-bind /home/o /home/o`"))));
}

// cases.md 91, 92
TEST(AuditTest, ReadOnlyMountOfTheHostHidesTheScratchAndOneBesideItDoesNot) {
  Policy policy = empty_policy();
  policy.writable_roots = paths({"/work"});
  policy.mounts = {mount("/", false, true)};
  EXPECT_THAT(audit_of(base_machine(), policy).widened,
              ElementsAre(StartsWith("mounts: writable root /work is read-only: "),
                          StartsWith("mounts: tmpfs scratch /tmp ")));

  policy.writable_roots = paths({"/work", "/tmp"});
  policy.mounts = {mount("/work/seed", false, true)};
  const ViewAudit judged = audit_of(base_machine(), policy);
  EXPECT_THAT(judged.widened, IsEmpty());
  EXPECT_THAT(judged.applied, HasSubstr("rw=1,"));
}

// cases.md 27
TEST(AuditTest, ReadableRootThatBecameTheScratchIsReportedWritable) {
  Policy policy = empty_policy();
  policy.readable_roots = paths({"/tmp"});
  EXPECT_THAT(audit_of(Machine(), policy).widened,
              ElementsAre(StartsWith("mounts: readable root /tmp is writable: `--tmpfs /tmp`")));
}

// cases.md 41
TEST(AuditTest, ProtectedPathNamedTwiceIsCountedTwice) {
  Policy policy = small_policy();
  policy.protected_paths = paths({"/work/.env", "/work/.env"});
  EXPECT_THAT(audit_of(base_machine(), policy).applied, HasSubstr("mask=2,"));
}

// cases.md 93
TEST(AuditTest, EmptyPlanClaimsNoMounts) {
  const ViewAudit judged = audit_view({}, memo_of(base_machine(), base_policy()));
  EXPECT_EQ(judged.applied, "");
  EXPECT_THAT(judged.widened, IsEmpty());
}

// cases.md 94, 10
TEST(AuditTest, BaseFollowsThePlan) {
  Machine machine;
  machine.directory("/");
  Policy policy = empty_policy();
  policy.writable_roots = paths({"/"});
  EXPECT_THAT(audit_of(machine, policy).applied, HasSubstr("base=host-view,"));
  policy.writable_roots = {};
  policy.readable_roots = paths({"/"});
  EXPECT_THAT(audit_of(machine, policy).applied, HasSubstr("base=host-view,"));
  EXPECT_THAT(audit_of(machine, empty_policy()).applied, HasSubstr("base=minimal,"));
}

// cases.md 35
TEST(AuditTest, WholeHostPlanHasNothingWidened) {
  Machine machine = base_machine();
  machine.directory("/");
  Policy policy = base_policy();
  policy.readable_roots = paths({"/"});
  EXPECT_THAT(audit_of(machine, policy).widened, IsEmpty());
}

TEST(AuditTest, HostScratchIsABindAndMayBeAnywhere) {
  Machine machine;
  machine.directory("/var/scratch");
  Policy policy = empty_policy();
  policy.scratch = host_scratch("/var/scratch");
  const ViewAudit judged = audit_of(machine, policy);
  EXPECT_THAT(judged.applied, HasSubstr("scratch=bind,"));
  EXPECT_THAT(judged.widened, IsEmpty());
}

TEST(AuditTest, WhatTheKernelCannotHoldIsAnExtraAndNeverASkip) {
  const auto modern = audit(plan_of(base_machine(), base_policy()));
  ASSERT_TRUE(modern);
  EXPECT_THAT(modern->extras, ElementsAre("mounts-by=name", "unheld:unix-path"));

  Machine old = base_machine();
  old.kernel({.landlock_abi = 1, .landlock_reason = {}, .seccomp = true, .seccomp_reason = {}});
  const auto judged = audit(plan_of(old, base_policy()));
  ASSERT_TRUE(judged);
  EXPECT_THAT(judged->extras, ElementsAre("mounts-by=name", "unheld:unix-path", "unheld:refer",
                                          "unheld:signal-scope"));
  EXPECT_THAT(judged->widened, IsEmpty());
}

// field B77
TEST(AuditTest, EmptyingFilesByNameIsUnheldWhereOnlyAnOldLandlockIsThere) {
  for (const std::uint32_t abi : {2u, 3u}) {
    Machine machine = base_machine();
    machine.kernel(
        {.landlock_abi = abi, .landlock_reason = {}, .seccomp = true, .seccomp_reason = {}});
    const auto jailed = audit(plan_of(machine, base_policy()));
    ASSERT_TRUE(jailed);
    EXPECT_THAT(jailed->extras, Not(Contains("unheld:truncate")));
    machine.without_launcher();
    const auto degraded = audit(plan_of(machine, base_policy()));
    ASSERT_TRUE(degraded);
    const auto said =
        std::count(degraded->extras.begin(), degraded->extras.end(), "unheld:truncate");
    EXPECT_EQ(said, abi < 3 ? 1 : 0) << abi;
  }
}

// cases.md 98, as changed by D24
TEST(AuditTest, WithoutBubblewrapEachThingNotHeldIsNamed) {
  Machine machine = base_machine();
  machine.without_launcher().directory("/srv/m");
  Policy policy = base_policy();
  policy.mounts = {mount("/srv/m", false, true)};
  const auto judged = audit(plan_of(machine, policy));

  ASSERT_TRUE(judged);
  EXPECT_THAT(judged->when_witnessed,
              ElementsAre(AllOf(StartsWith("skip:bwrap: "), HasSubstr("no bwrap on PATH"),
                                HasSubstr("namespaces, minimal view"), HasSubstr("readable roots"),
                                HasSubstr("protected paths"), HasSubstr("explicit mounts"),
                                HasSubstr("tmpfs scratch"), Not(HasSubstr("writable roots")))));
  EXPECT_EQ(judged->when_silent, judged->when_witnessed);
  EXPECT_THAT(judged->extras, ElementsAre("unheld:unix-path"));
  const auto bare = audit(plan_of(Machine().without_launcher(), empty_policy()));
  ASSERT_TRUE(bare);
  EXPECT_THAT(bare->when_witnessed, ElementsAre(Not(HasSubstr("protected paths"))));
}

KernelFacts kernel_with(LauncherFacts launcher) {
  launcher.tried = true;
  return {.landlock_abi = 7,
          .landlock_reason = {},
          .seccomp = true,
          .seccomp_reason = {},
          .launcher = std::move(launcher)};
}

// guard 5.2: I6, I8, I9
TEST(AuditTest, WhatBubblewrapDidWithoutIsUnheldWithItsReasonAndNeverASkip) {
  Machine machine = base_machine();
  LauncherFacts launcher;
  launcher.no_pids = "no proc";
  launcher.no_cgroup = "no groups";
  launcher.no_devices = "no ptys";
  machine.kernel(kernel_with(launcher));
  const auto judged = audit(plan_of(machine, base_policy()));
  ASSERT_TRUE(judged);
  EXPECT_THAT(judged->extras, AllOf(Contains("unheld:pid-namespace=no proc"),
                                    Contains("unheld:cgroup-namespace=no groups"),
                                    Contains("unheld:private-ptys=no ptys")));
  EXPECT_EQ(judged->when_witnessed.front(), "bwrap");
  EXPECT_THAT(judged->widened, IsEmpty());

  const auto whole = audit(plan_of(base_machine(), base_policy()));
  ASSERT_TRUE(whole);
  EXPECT_THAT(whole->extras, Not(Contains(HasSubstr("namespace"))));
  EXPECT_THAT(whole->extras, Not(Contains(HasSubstr("ptys"))));
}

// field B35
TEST(AuditTest, ABubblewrapThatBuildsNoJailIsADegradedRunInItsOwnWords) {
  Machine machine = base_machine();
  LauncherFacts launcher;
  launcher.broken = "bubblewrap builds no jail here: odd words";
  machine.kernel(kernel_with(launcher));
  const auto judged = audit(plan_of(machine, base_policy()));
  ASSERT_TRUE(judged);
  EXPECT_THAT(
      judged->when_witnessed,
      ElementsAre(AllOf(StartsWith("skip:bwrap: bubblewrap builds no jail here: odd words, so "),
                        HasSubstr("namespaces, minimal view"), HasSubstr("protected paths"))));
  EXPECT_TRUE(plan_of(machine, base_policy()).view.empty());
}

TEST(AuditTest, PlanOfAnotherBackendIsRefused) {
  JailPlan plan = plan_of(base_machine(), base_policy());
  EXPECT_TRUE(audit(plan).has_value());
  plan.backend.pop_back();
  EXPECT_FALSE(audit(plan).has_value());
  plan.backend.clear();
  EXPECT_FALSE(audit(plan).has_value());
}

}  // namespace
}  // namespace loom::bwrap::test
