#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include "stage2_run.h"
#include "tests/support/promised.h"

namespace loom::bwrap {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::uint64_t kReadRights = 1U << 0U | 1U << 2U | 1U << 3U;
constexpr std::uint64_t kFirstRights = (1U << 13U) - 1;  // all of Landlock's ABI 1
constexpr std::uint64_t kSignalScope = 1U << 1U;

// A kernel that says yes and does nothing: what stage 2 claims then, it has not looked at.
class Stage2Witness : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs uid 0";
  }

  static InnerReport report_of(const PrepareDocument& document, const Start& start = {}) {
    Stage2Run run(document, start);
    auto report = run.await_ready();
    const Ended ended = run.wait();
    EXPECT_TRUE(report) << ended.err;
    return report ? *report : InnerReport{};
  }
  static Start without(std::vector<long> calls) {
    return {.launcher = {}, .in_child = withhold(std::move(calls))};
  }
};

class LandlockWitnessTest : public Stage2Witness {
 protected:
  void SetUp() override {
    Stage2Witness::SetUp();
    abi = static_cast<int>(::syscall(SYS_landlock_create_ruleset, nullptr, 0, 1U));
    if (abi < 1) {
      LOOM_SKIP_UNLESS_PROMISED("no Landlock");
    }
    document.landlock_abi = static_cast<std::uint32_t>(abi);
    document.landlock_handled_fs = kFirstRights;
    document.landlock_rules = {{.path = "/", .access = kReadRights, .required = true}};
    tag = "landlock:abi=" + std::to_string(abi);
  }
  void expect_claimed(const Start& start = {}) const {
    const InnerReport report = report_of(document, start);
    EXPECT_THAT(report.applied, Contains(tag));
    EXPECT_THAT(report.skipped, IsEmpty());
  }
  void expect_doubted(const Start& start) const {
    const InnerReport report = report_of(document, start);
    EXPECT_THAT(report.applied, Not(Contains(StartsWith("landlock"))));
    EXPECT_THAT(report.skipped, ElementsAre(StartsWith("landlock: ")));
  }
  // A jail in which not even its own process may be written to through /proc.
  [[nodiscard]] static std::vector<std::string> jail_with_read_only_proc() {
    return {"--unshare-pid", "--die-with-parent", "--ro-bind", "/", "/", "--proc",
            "/proc",         "--remount-ro",      "/proc"};
  }

  int abi = 0;
  std::string tag;
  PrepareDocument document;
};

TEST_F(LandlockWitnessTest, RulesThatAreNotInForceAreNotClaimed) {
  expect_claimed();
  expect_doubted(without({SYS_landlock_restrict_self}));
}

TEST_F(LandlockWitnessTest, RulesThatOpenEverythingAreSeenByWhatTheyKeepOutside) {
  document.landlock_rules.front().access = kFirstRights;
  // Process 1 of a jail holds no capabilities, so without Landlock stage 2 may inspect it.
  const std::vector<std::string> jail = {
      "--unshare-pid", "--die-with-parent", "--ro-bind", "/", "/", "--proc", "/proc"};
  expect_claimed({.launcher = jail, .in_child = {}});
  expect_doubted({.launcher = jail, .in_child = withhold({SYS_landlock_restrict_self})});
}

TEST_F(LandlockWitnessTest, RulesThatOpenEverythingAreSeenByTheSignalsTheyKeepInside) {
  if (abi < 6) {
    LOOM_SKIP_UNLESS_PROMISED("kernel without Landlock scopes");
  }
  document.landlock_rules.front().access = kFirstRights;
  // This test has capabilities that stage 2 gives up, so that nothing shows without a scope.
  expect_doubted({});
  document.landlock_scoped = kSignalScope;
  expect_claimed();
}

TEST_F(LandlockWitnessTest, WhatSomebodyElseRefusesShowsNothing) {
  expect_claimed({.launcher = jail_with_read_only_proc(), .in_child = {}});
  expect_doubted(
      {.launcher = jail_with_read_only_proc(), .in_child = withhold({SYS_landlock_restrict_self})});
}

// guard 5.2: I6
TEST_F(LandlockWitnessTest, WhereTheHostsProcIsShownRulesThatAreNotInForceEndTheJail) {
  document.jailed = true;
  document.shares_pids = true;
  // The launcher is in another user namespace, and so cannot be inspected; /proc is read-only.
  const std::vector<std::string> jail = {
      "--unshare-user", "--die-with-parent", "--ro-bind", "/",    "/", "--dev",
      "/dev",           "--ro-bind",         "/proc",     "/proc"};
  expect_claimed({.launcher = jail, .in_child = {}});
  Stage2Run run(document, {.launcher = jail, .in_child = withhold({SYS_landlock_restrict_self})});
  const auto failed = run.receive();
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->kind, ControlKind::kFailed);
  EXPECT_EQ(failed->step, Stage2Step::kLandlock);
  EXPECT_EQ(run.wait().code, 126);
}

TEST_F(LandlockWitnessTest, AScopeThatIsNotInForceIsNamed) {
  if (abi < 6) {
    LOOM_SKIP_UNLESS_PROMISED("kernel without Landlock scopes");
  }
  document.landlock_scoped = kSignalScope;
  EXPECT_THAT(report_of(document).applied, Contains("scopes=signal"));
  const std::vector<std::string> applied =
      report_of(document, without({SYS_landlock_restrict_self})).applied;
  EXPECT_THAT(applied, Contains("unheld:signal-scope"));
  EXPECT_THAT(applied, Not(Contains(StartsWith("scopes="))));
}

TEST_F(Stage2Witness, ALimitThatIsNotInForceIsNotClaimed) {
  PrepareDocument document = plain_document();
  document.fsize = 1'048'576;
  document.cpu_soft = 5;
  document.cpu_hard = 6;
  EXPECT_THAT(report_of(document).applied,
              ElementsAre("rlimit-fsize", "rlimit-cpu", "no-new-privs", "caps=none"));
  const InnerReport report = report_of(document, without({SYS_setrlimit, SYS_prlimit64}));
  EXPECT_THAT(report.applied,
              ElementsAre("no-new-privs", "caps=none", StartsWith("unheld:no-core=")));
  EXPECT_THAT(report.skipped, ElementsAre(StartsWith("rlimit-fsize: "), StartsWith("rlimit-cpu: "),
                                          "landlock: not asked for"));
}

TEST_F(Stage2Witness, NoNewPrivilegesAreClaimedOnlyWhenTheKernelSaysSo) {
  EXPECT_THAT(report_of(plain_document()).applied, Contains("no-new-privs"));
  const InnerReport report = report_of(plain_document(), without({SYS_prctl}));
  EXPECT_THAT(report.applied, ElementsAre("caps=none"));
  EXPECT_THAT(report.skipped, Contains(StartsWith("no-new-privs: ")));
}

TEST_F(Stage2Witness, CapabilitiesThatAreStillHeldAreNamed) {
  EXPECT_THAT(report_of(plain_document()).applied, Contains("caps=none"));
  EXPECT_THAT(report_of(plain_document(), without({SYS_capset})).applied,
              Contains("unheld:caps=effective,permitted"));
}

// socket(2) for anything but AF_UNIX: EPERM.
Bytes unix_only_filter() {
  const std::array<sock_filter, 6> program = {{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const auto bytes = std::as_bytes(std::span(program));
  return {bytes.begin(), bytes.end()};
}

TEST_F(Stage2Witness, AFilterThatIsNotInForceIsNotClaimed) {
  PrepareDocument document = plain_document();
  document.filter_wanted = true;
  document.filter_tag = "seccomp-net";
  document.filter = unix_only_filter();
  EXPECT_THAT(report_of(document).applied, Contains("seccomp-net"));
  const InnerReport report = report_of(document, without({SYS_seccomp}));
  EXPECT_THAT(report.applied, Not(Contains("seccomp-net")));
  EXPECT_THAT(report.skipped, Contains(StartsWith("seccomp: ")));
}

TEST_F(Stage2Witness, WhereTheNetworkIsOpenAFilterThatIsNotInForceIsNamed) {
  PrepareDocument document = plain_document();
  document.filter = unix_only_filter();
  const std::string unheld = "unheld:socket-families";
  EXPECT_THAT(report_of(document).applied, Not(Contains(unheld)));
  EXPECT_THAT(report_of(document, without({SYS_seccomp})).applied, Contains(unheld));
}

}  // namespace
}  // namespace loom::bwrap
