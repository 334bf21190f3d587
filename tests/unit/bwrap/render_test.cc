#include "backends/bwrap/render.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <loom/stage2_control.h>

#include <algorithm>
#include <string>

#include "backends/bwrap/plan.h"
#include "machine.h"
#include "tests/support/golden.h"

namespace loom::bwrap::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

PrepareDocument document_of(const Machine& machine, const Policy& policy) {
  for (const MemoryFile& memory : launch_of(machine, policy).memory_files) {
    if (memory.child_number != 3) continue;
    const auto document = decode_prepare_document(memory.bytes);
    EXPECT_TRUE(document.has_value()) << (document ? "" : document.error().message);
    return document ? *document : PrepareDocument{};
  }
  ADD_FAILURE() << "no document at 3";
  return {};
}

TEST(RenderTest, LauncherGetsItsOptionsOnADescriptorAndNothingOfTheCommand) {
  const LaunchSpec launch = launch_of(base_machine(), base_policy());

  EXPECT_EQ(launch.image, ImageKind::kLauncher);
  EXPECT_THAT(launch.argv, ElementsAre("bwrap", "--args", "10", "/proc/self/fd/11"));
  EXPECT_THAT(launch.environment, IsEmpty());
  EXPECT_EQ(launch.cwd, "/");
  ASSERT_EQ(launch.memory_files.size(), 2U);
  EXPECT_EQ(launch.memory_files[0].child_number, 3);
  EXPECT_EQ(launch.memory_files[1].child_number, 10);
  EXPECT_THAT(launch.handles,
              ElementsAre(LentHandle{.role = LentHandle::Role::kStage2, .child_number = 11}));
  EXPECT_EQ(launch.stdin_number, 6);
  EXPECT_EQ(launch.report_number, 4);
  EXPECT_EQ(launch.control_number, 5);
  EXPECT_TRUE(launch.jailed_pids);
  const auto commit = decode_commit_document(launch.commit);
  ASSERT_TRUE(commit);
  EXPECT_EQ(*commit,
            (CommitDocument{.argv = {"true"}, .environment = {"PATH=/usr/bin"}, .cwd = "/work"}));
}

TEST(RenderTest, WithoutBubblewrapStage2RunsByItself) {
  Machine machine = base_machine();
  machine.without_launcher();
  const LaunchSpec launch = launch_of(machine, base_policy());

  EXPECT_EQ(launch.image, ImageKind::kStage2);
  EXPECT_THAT(launch.handles, IsEmpty());
  EXPECT_THAT(launch.watched, IsEmpty());
  EXPECT_FALSE(launch.jailed_pids);
  ASSERT_EQ(launch.memory_files.size(), 1U);
  const PrepareDocument document = document_of(machine, base_policy());
  EXPECT_FALSE(document.jailed);
  EXPECT_FALSE(document.root_read_only);
  EXPECT_THAT(document.view, IsEmpty());
  EXPECT_EQ(document.landlock_abi, 7U);
  EXPECT_TRUE(plan_of(machine, base_policy()).view.empty());
}

// guard 5.2: I6
TEST(RenderTest, WithoutAPidNamespaceTheLaunchAndTheDocumentSaySo) {
  Machine machine = base_machine();
  KernelFacts kernel{.landlock_abi = 7,
                     .landlock_reason = {},
                     .seccomp = true,
                     .seccomp_reason = {},
                     .launcher = {}};
  kernel.launcher.no_pids = "why";
  machine.kernel(kernel);
  EXPECT_EQ(launch_of(machine, base_policy()).image, ImageKind::kLauncher);
  EXPECT_FALSE(launch_of(machine, base_policy()).jailed_pids);
  EXPECT_TRUE(document_of(machine, base_policy()).shares_pids);
  EXPECT_TRUE(document_of(machine, base_policy()).jailed);
  EXPECT_FALSE(document_of(base_machine(), base_policy()).shares_pids);
}

TEST(RenderTest, TheCallersDescriptorLimitReachesStage2) {
  PlanRequest request = base_machine().request(base_policy());
  request.facts.descriptor_limit = 1'024;
  const auto made = plan(request);
  ASSERT_TRUE(made);
  const auto launch = render(*made);
  ASSERT_TRUE(launch);
  const auto document = decode_prepare_document(launch->memory_files.front().bytes);
  ASSERT_TRUE(document);
  EXPECT_EQ(document->descriptor_limit, 1'024U);
  EXPECT_EQ(document_of(base_machine(), base_policy()).descriptor_limit, std::nullopt);
}

TEST(RenderTest, EachMaskIsCheckedAgainstTheDirectoryAroundIt) {
  Policy policy = base_policy();
  policy.protected_paths = paths({"/work/.git", "/work/.env", "/home/u/.ssh"});
  const PrepareDocument document = document_of(base_machine(), policy);

  EXPECT_TRUE(document.root_read_only);
  EXPECT_THAT(document.view, ElementsAre(ViewCheck{.path = "/home/u/.ssh",
                                                   .form = ViewCheck::Form::kEmptyDirectory,
                                                   .parent_identity = {}},
                                         ViewCheck{.path = "/work/.env",
                                                   .form = ViewCheck::Form::kNullDevice,
                                                   .parent_identity = identity_of("/work")},
                                         ViewCheck{.path = "/work/.git",
                                                   .form = ViewCheck::Form::kEmptyDirectory,
                                                   .parent_identity = identity_of("/work")}));
}

TEST(RenderTest, EachMaskIsWatchedOnceWithTheObjectThatItHides) {
  Machine machine = base_machine();
  machine.file("/work/.git/config");
  Policy policy = base_policy();
  policy.protected_paths = paths({"/work/.git/config", "/work/.git", "/work/.git", "/h/.ssh"});

  EXPECT_THAT(launch_of(machine, policy).watched,
              ElementsAre(WatchedPath{.path = path("/work/.git"),
                                      .identity = identity_of("/work/.git"),
                                      .masked = true},
                          WatchedPath{.path = path("/h/.ssh"), .identity = {}, .masked = true}));
}

TEST(RenderTest, LimitsBecomeSoftAndHardOnesAndTheLargestDoesNotWrap) {
  Policy policy = base_policy();
  EXPECT_EQ(document_of(base_machine(), policy).cpu_soft, std::nullopt);
  EXPECT_EQ(document_of(base_machine(), policy).fsize, std::nullopt);
  policy.limits.cpu_s = 5;
  policy.limits.fsize_bytes = 1'000;
  EXPECT_EQ(document_of(base_machine(), policy).cpu_soft, 5U);
  EXPECT_EQ(document_of(base_machine(), policy).cpu_hard, 6U);
  EXPECT_EQ(document_of(base_machine(), policy).fsize, 1'000U);
  policy.limits.cpu_s = UINT64_MAX;
  EXPECT_EQ(document_of(base_machine(), policy).cpu_hard, UINT64_MAX);
}

// cases.md 106
TEST(RenderTest, FilterIsTaggedOnlyWhereItCutsTheNetwork) {
  Policy policy = base_policy();
  const PrepareDocument off = document_of(base_machine(), policy);
  EXPECT_EQ(off.filter_tag, "seccomp-net");
  EXPECT_FALSE(off.filter.empty());
  EXPECT_EQ(off.proxy_reason, "");

  policy.network = {.mode = NetworkMode::kProxy, .allow = {}, .proxy = "p:1"};
  const PrepareDocument proxy = document_of(base_machine(), policy);
  EXPECT_EQ(proxy.filter, off.filter);
  EXPECT_EQ(proxy.filter_tag, "seccomp-net");
  EXPECT_THAT(proxy.proxy_reason, HasSubstr("allowlist"));

  policy.network = {.mode = NetworkMode::kFull, .allow = {}, .proxy = {}};
  const PrepareDocument full = document_of(base_machine(), policy);
  EXPECT_EQ(full.filter_tag, "");
  EXPECT_FALSE(full.filter.empty());
  EXPECT_NE(full.filter, off.filter);
}

TEST(RenderTest, KernelWithoutALayerIsSaidInTheDocument) {
  Machine machine = base_machine();
  machine.kernel({.landlock_abi = 0,
                  .landlock_reason = "Operation not supported",
                  .seccomp = false,
                  .seccomp_reason = "Invalid argument"});
  Policy policy = base_policy();
  const PrepareDocument off = document_of(machine, policy);
  EXPECT_EQ(off.landlock_reason, "Operation not supported");
  EXPECT_THAT(off.landlock_rules, IsEmpty());
  EXPECT_TRUE(off.filter_wanted);
  EXPECT_TRUE(off.filter.empty());
  EXPECT_EQ(off.filter_reason, "Invalid argument");
  EXPECT_EQ(off.filter_tag, "");

  policy.network.mode = NetworkMode::kFull;
  EXPECT_FALSE(document_of(machine, policy).filter_wanted);
}

// cases.md 136
TEST(RenderTest, MachineWithoutAFilterProgramIsRefusedByThePlan) {
  Machine machine = base_machine();
  machine.architecture("vax");
  EXPECT_THAT(refusal_of(machine, base_policy()), HasSubstr("vax"));
}

TEST(RenderTest, KeptCapabilitiesTravelByNumber) {
  PlanRequest request = base_machine().request(base_policy());
  request.keep_capabilities = {"CAP_NET_RAW", "CAP_CHOWN", "CAP_CHECKPOINT_RESTORE"};
  const auto made = plan_of(base_machine(), base_policy());
  auto memo = decode_run_memo(made.backend);
  ASSERT_TRUE(memo);
  memo->keep_caps = {13, 0, 40};
  const auto document = prepare_document(made.view, *memo);
  ASSERT_TRUE(document);
  EXPECT_THAT(document->keep_caps, ElementsAre(13U, 0U, 40U));
}

// A host with /home -> var/home and /tmp -> private/tmp.
Machine linked_machine() {
  Machine machine;
  machine.directory("/var/home/u/work").directory("/var/home/u/work/vendor");
  machine.directory("/private/tmp").directory("/private/tmp/build").directory("/data/cap");
  const LinkFact home{.place = path("/home"), .target = "var/home"};
  const LinkFact tmp{.place = path("/tmp"), .target = "private/tmp"};
  machine.linked("/home/u/work", "/var/home/u/work", {home});
  machine.linked("/home/u/work/vendor", "/var/home/u/work/vendor", {home});
  machine.linked("/tmp", "/private/tmp", {tmp});
  machine.linked("/tmp/build", "/private/tmp/build", {tmp});
  machine.linked("/usr/cap", "/data/cap", {{.place = path("/usr/cap"), .target = "/data/cap"}});
  return machine;
}

TEST(RenderGoldenTest, PathsBehindLinksAreBoundOnceAndTheLinksAreShown) {
  Policy policy = empty_policy();
  policy.writable_roots = paths({"/home/u/work", "/tmp/build"});
  policy.readable_roots = paths({"/home/u/work/vendor", "/usr/cap"});
  const auto executed = executed_of(linked_machine(), policy);

  loom::test::expect_golden(executed, "bwrap/links_executed.argv");
  const std::string text = joined(executed);
  EXPECT_THAT(text, HasSubstr(" --tmpfs /private/tmp "));
  EXPECT_THAT(text, HasSubstr(" --bind /private/tmp/build /private/tmp/build "));
  // The link of /usr/cap is already there: it lies inside the bind of /usr.
  EXPECT_THAT(text, HasSubstr(" --symlink var/home /home --symlink private/tmp /tmp "
                              "--remount-ro / "));
  EXPECT_EQ(count(text, " --symlink "), 2U);
  // A second bind of the workspace would show the vendor directory writable.
  EXPECT_EQ(count(text, " /var/home/u/work "), 2U);
  EXPECT_THAT(joined(plan_of(linked_machine(), policy).canonical_argv),
              Not(HasSubstr("--symlink")));
}

TEST(RenderTest, NoLinkIsMadeWhereAMountPointMustBe) {
  // /nix is a link on this host, and the jail has /nix/store as a mount point.
  Machine machine;
  machine.directory("/mnt/nix/store").directory("/mnt/nix/extra");
  const LinkFact nix{.place = path("/nix"), .target = "mnt/nix"};
  machine.linked("/nix/store", "/mnt/nix/store", {nix});
  machine.linked("/nix/extra", "/mnt/nix/extra", {nix});
  Policy policy = empty_policy();
  policy.readable_roots = paths({"/nix/extra"});
  const std::string text = joined(executed_of(machine, policy));

  EXPECT_THAT(text, HasSubstr(" --ro-bind-try /mnt/nix/extra /mnt/nix/extra "));
  EXPECT_THAT(text, HasSubstr(" --ro-bind-try /nix/store /nix/store "));
  EXPECT_THAT(text, Not(HasSubstr("--symlink")));
}

}  // namespace
}  // namespace loom::bwrap::test
