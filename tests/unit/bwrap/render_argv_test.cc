#include "backends/bwrap/render_argv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "backends/bwrap/view.h"
#include "machine.h"
#include "tests/support/golden.h"

namespace loom::bwrap::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> head(const std::vector<std::string>& argv, std::size_t size) {
  return {argv.begin(), argv.begin() + static_cast<std::ptrdiff_t>(size)};
}

std::vector<std::string> tail(const std::vector<std::string>& argv, std::size_t size) {
  return {argv.end() - static_cast<std::ptrdiff_t>(size), argv.end()};
}

void expect_order(const std::string& text, const std::string& first, const std::string& second) {
  ASSERT_THAT(text, HasSubstr(first));
  ASSERT_THAT(text, HasSubstr(second));
  EXPECT_LT(text.rfind(first), text.find(second)) << first << " before " << second;
}

// cases.md 1, 7, 15, 16
TEST(RenderArgvGoldenTest, BasePolicyIsTheListingOfTheSpecification) {
  const JailPlan plan = plan_of(base_machine(), base_policy());

  loom::test::expect_golden(plan.canonical_argv, "bwrap/base.argv");
  EXPECT_EQ(plan.digest, "e641667e858de6d2");
  EXPECT_EQ(tail(plan.canonical_argv, 2), (std::vector<std::string>{"--remount-ro", "/"}));
  const std::string text = joined(plan.canonical_argv);
  expect_order(text, " --dev /dev ", " --proc /proc ");
  expect_order(text, " /run/NetworkManager ", " /run/current-system ");
  expect_order(text, " /run/current-system ", " /run/resolvconf ");
  expect_order(text, " /run/resolvconf ", " /run/systemd/resolve ");
}

// cases.md 9
TEST(RenderArgvGoldenTest, EmptyPolicyShowsTheSystemRootsAndNothingElseOfTheHost) {
  const JailPlan plan = plan_of(Machine(), empty_policy());

  loom::test::expect_golden(plan.canonical_argv, "bwrap/empty_policy.argv");
  EXPECT_EQ(plan.digest, "4aa8e2a4cb6c2d3e");
  const std::string text = joined(plan.canonical_argv);
  EXPECT_EQ(count(text, " --ro-bind-try "), 14U);
  for (const char* absent : {" /home ", " /root ", " /var/tmp ", " /Users ", " --tmpfs / "}) {
    EXPECT_THAT(text, Not(HasSubstr(absent)));
  }
  EXPECT_EQ(plan.view.front().mount_class, MountClass::kRootTmpfs);
}

// cases.md 31
TEST(RenderArgvGoldenTest, ExplicitMountsComeAfterTheMasks) {
  Machine machine = base_machine();
  machine.directory("/srv/cap/s").directory("/tmp/cap");
  Policy policy = base_policy();
  policy.mounts = {mount("/srv/cap/s", false, true), mount("/tmp/cap", true, false)};
  const JailPlan plan = plan_of(machine, policy);

  loom::test::expect_golden(plan.canonical_argv, "bwrap/mounts.argv");
  EXPECT_EQ(plan.digest, "cab4a053993be3cd");
  EXPECT_THAT(joined(plan.canonical_argv),
              HasSubstr(" --remount-ro /work/.git --ro-bind /srv/cap/s /srv/cap/s "
                        "--bind-try /tmp/cap /tmp/cap --remount-ro / "));
}

// cases.md 13
TEST(RenderArgvGoldenTest, WholeHostPlanHasNoGrantAfterTheFirstMask) {
  Machine machine = base_machine();
  machine.directory("/").directory("/var/scratch");
  Policy policy = base_policy();
  policy.readable_roots = paths({"/", "/opt/tools"});
  policy.writable_roots = paths({"/", "/work"});
  policy.scratch = host_scratch("/var/scratch");
  const JailPlan plan = plan_of(machine, policy);

  loom::test::expect_golden(plan.canonical_argv, "bwrap/whole_host.argv");
  const auto first_mask = std::find_if(
      plan.view.begin(), plan.view.end(),
      [](const MountOperation& operation) { return operation.mount_class >= MountClass::kProc; });
  ASSERT_NE(first_mask, plan.view.end());
  EXPECT_TRUE(std::all_of(first_mask, plan.view.end(), [](const MountOperation& operation) {
    return operation.mount_class >= MountClass::kProc;
  }));
  EXPECT_THAT(joined(plan.canonical_argv), HasSubstr(" --bind / / "));
}

// cases.md 2, 3
TEST(RenderArgvTest, NamespaceOptionsLeadAndTheNetworkIsCutSeventh) {
  const auto argv = argv_of(base_machine(), base_policy());

  EXPECT_EQ(head(argv, 7),
            (std::vector<std::string>{"--die-with-parent", "--unshare-pid", "--unshare-ipc",
                                      "--unshare-uts", "--unshare-user-try", "--unshare-cgroup-try",
                                      "--unshare-net"}));
}

// cases.md 4, 5, 6
TEST(RenderArgvTest, ProxyCutsTheNetworkLikeOffAndFullDoesNot) {
  Policy proxy = base_policy();
  proxy.network = {.mode = NetworkMode::kProxy, .allow = {"*.org"}, .proxy = "127.0.0.1:3128"};
  Policy full = base_policy();
  full.network.mode = NetworkMode::kFull;

  EXPECT_TRUE(proxy.network.blocks_direct());
  EXPECT_FALSE(full.network.blocks_direct());
  EXPECT_THAT(argv_of(base_machine(), proxy), Contains("--unshare-net"));
  EXPECT_THAT(argv_of(base_machine(), full), Not(Contains("--unshare-net")));
}

// cases.md 17
TEST(RenderArgvTest, NothingOfTheCommandIsInTheOptions) {
  const auto argv = argv_of(base_machine(), base_policy());

  EXPECT_THAT(argv, Contains("--die-with-parent"));
  for (const char* absent : {"--chdir", "--clearenv", "--setenv", "--new-session", "--", "true"}) {
    EXPECT_THAT(argv, Not(Contains(absent)));
  }
}

// cases.md 18
TEST(RenderArgvTest, ReadableRootIsTolerantAndLeftOutOfTheExecutedOptionsWhenAbsent) {
  Policy policy = base_policy();
  policy.readable_roots = paths({"/opt/tools", "/opt/maybe-missing"});

  EXPECT_THAT(joined(argv_of(base_machine(), policy)),
              HasSubstr(" --ro-bind-try /opt/maybe-missing /opt/maybe-missing "));
  const std::string executed = joined(executed_of(base_machine(), policy));
  EXPECT_THAT(executed, Not(HasSubstr("maybe-missing")));
  EXPECT_THAT(executed, HasSubstr(" --ro-bind-try /opt/tools /opt/tools "));
}

TEST(RenderArgvTest, ExecutedOptionsOfAMachineThatHasEverythingAreTheCanonicalOnes) {
  const Machine machine = base_machine();
  EXPECT_EQ(executed_of(machine, base_policy()), argv_of(machine, base_policy()));
}

Machine machine_with(const LauncherFacts& launcher) {
  Machine machine = base_machine();
  machine.kernel({.landlock_abi = 7,
                  .landlock_reason = {},
                  .seccomp = true,
                  .seccomp_reason = {},
                  .launcher = launcher});
  return machine;
}

// guard 5.2: I6, I8, I9
TEST(RenderArgvTest, FallbacksAreInTheExecutedOptionsAlone) {
  struct Row {
    std::string LauncherFacts::*part;
    const char* gone;
    const char* instead;
  };
  const std::vector<Row> rows = {
      {&LauncherFacts::no_pids, " --unshare-pid ", " --ro-bind /proc /proc "},
      {&LauncherFacts::no_pids, " --proc /proc ", " --ro-bind /proc /proc "},
      {&LauncherFacts::no_cgroup, " --unshare-cgroup-try ", " --unshare-user-try --unshare-net "},
      {&LauncherFacts::no_devices, " --dev /dev ",
       " --tmpfs /dev --dev-bind /dev/null /dev/null "}};
  for (const Row& row : rows) {
    LauncherFacts launcher;
    launcher.*row.part = "why";
    const Machine machine = machine_with(launcher);
    const std::string executed = joined(executed_of(machine, base_policy()));
    EXPECT_THAT(executed, Not(HasSubstr(row.gone)));
    EXPECT_THAT(executed, HasSubstr(row.instead));
    EXPECT_THAT(joined(executed_of(base_machine(), base_policy())), HasSubstr(row.gone));
    EXPECT_EQ(plan_of(machine, base_policy()).canonical_argv,
              plan_of(base_machine(), base_policy()).canonical_argv);
    EXPECT_EQ(plan_of(machine, base_policy()).digest,
              plan_of(base_machine(), base_policy()).digest);
  }
}

TEST(RenderArgvTest, DevicesMadeByHandAreLaidBeforeTheMasksAndAfterTheGrants) {
  LauncherFacts launcher;
  launcher.no_devices = "why";
  const std::string executed = joined(executed_of(machine_with(launcher), base_policy()));
  for (const char* words : {" --symlink pts/ptmx /dev/ptmx ", " --dev-bind-try /dev/pts /dev/pts ",
                            " --symlink /proc/self/fd /dev/fd ",
                            " --symlink /proc/self/fd/2 /dev/stderr ", " --tmpfs /dev/shm "}) {
    EXPECT_THAT(executed, HasSubstr(words));
  }
  EXPECT_LT(executed.find(" --bind /work /work "), executed.find(" --tmpfs /dev "));
  EXPECT_LT(executed.find(" --tmpfs /dev/shm "), executed.find(" /work/.env "));
}

// cases.md 95
TEST(RenderArgvTest, DigestTellsMaskKindsApartAndNothingElseOfOnePolicy) {
  Machine other_kind = base_machine();
  other_kind.directory("/work/.env");

  EXPECT_EQ(plan_of(base_machine(), base_policy()).digest,
            plan_of(base_machine(), base_policy()).digest);
  EXPECT_NE(plan_of(base_machine(), base_policy()).digest,
            plan_of(other_kind, base_policy()).digest);
}

}  // namespace
}  // namespace loom::bwrap::test
