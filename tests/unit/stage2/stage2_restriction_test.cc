#include <errno.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

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
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

// The kernel's Landlock number when it is at least `needed`. Otherwise 0, which fails the test
// where the environment promises that every layer works.
int landlock_abi(int needed) {
  const auto abi = static_cast<int>(::syscall(SYS_landlock_create_ruleset, nullptr, 0, 1U));
  if (abi >= needed) return abi;
  EXPECT_FALSE(test::jail_is_promised()) << "Landlock ABI " << abi;
  return 0;
}

constexpr std::uint64_t kReadRights =
    1U << 0U | 1U << 2U | 1U << 3U;  // execute, read file and directory

std::uint64_t every_right(int abi) {
  if (abi >= 5) return (1U << 16U) - 1;
  if (abi >= 3) return (1U << 15U) - 1;
  return abi == 2 ? (1U << 14U) - 1 : (1U << 13U) - 1;
}

PrepareDocument landlock_document(int abi, const std::string& writable) {
  PrepareDocument document;
  document.landlock_abi = static_cast<std::uint32_t>(abi);
  document.landlock_handled_fs = every_right(abi);
  document.landlock_scoped = abi >= 6 ? 3 : 0;
  document.landlock_rules = {
      {.path = "/", .access = kReadRights, .required = true},
      {.path = writable, .access = every_right(abi), .required = false},
      {.path = "/dev/null", .access = every_right(abi), .required = true},
      {.path = "/no/such/root", .access = every_right(abi), .required = false}};
  return document;
}

// socket(2) for anything but AF_UNIX: EPERM. The test needs no more than its own architecture.
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

InnerReport report_of(const PrepareDocument& document, const Start& start = {}) {
  Stage2Run run(document, start);
  auto report = run.await_ready();
  run.hang_up();
  const Ended ended = run.wait();
  EXPECT_TRUE(report) << ended.err;
  return report ? *report : InnerReport{};
}

TEST(Stage2Restriction, ReportsInTheAgreedOrder) {  // cases.md 106, 107
  const int abi = landlock_abi(6);
  if (abi == 0) GTEST_SKIP() << "kernel without Landlock scopes";
  const TemporaryDirectory place;
  PrepareDocument document = landlock_document(abi, place.str());
  document.fsize = 1'048'576;
  document.cpu_soft = 5;
  document.cpu_hard = 6;
  document.filter_wanted = true;
  document.filter_tag = "seccomp-net";
  document.filter = unix_only_filter();
  document.proxy_reason = "no sidecar";
  const InnerReport report = report_of(document);
  const std::string caps = ::geteuid() == 0 ? "caps=none" : "unheld:caps=bounding";
  EXPECT_THAT(report.applied,
              ElementsAre("rlimit-fsize", "rlimit-cpu", "landlock:abi=" + std::to_string(abi),
                          "no-new-privs", "seccomp-net", caps, "scopes=abstract,signal"));
  EXPECT_THAT(report.skipped, ElementsAre("network-proxy: no sidecar"));
}

TEST(Stage2Restriction, NamesEverySkippedLayer) {
  PrepareDocument document = plain_document();
  document.landlock_reason = "kernel without Landlock";
  document.filter_wanted = true;
  document.filter_reason = "kernel without filters";
  const InnerReport report = report_of(document);
  EXPECT_THAT(report.skipped,
              ElementsAre("landlock: kernel without Landlock", "seccomp: kernel without filters"));
  EXPECT_EQ(report.applied.front(), "no-new-privs");
}

TEST(Stage2Restriction, AFilterThatNobodyWantsIsNoSkip) {
  EXPECT_THAT(report_of(plain_document()).skipped, ElementsAre("landlock: not asked for"));
}

TEST(Stage2Restriction, SetsTheLimits) {
  PrepareDocument document = plain_document();
  document.fsize = 1'048'576;
  document.cpu_soft = 5;
  document.cpu_hard = 6;
  const CommitDocument command = shell("ulimit -f; ulimit -St; ulimit -Ht");
  EXPECT_EQ(run_command_with(document, command).out, "2048\n5\n6\n");  // blocks of 512 bytes
  EXPECT_EQ(run_command_with(plain_document(), command).out, "unlimited\nunlimited\nunlimited\n");
}

TEST(Stage2Restriction, ALargerFileThanTheLimitCannotBeWritten) {
  const TemporaryDirectory place;
  PrepareDocument document = plain_document();
  const CommitDocument command =
      shell("head -c 8192 /dev/zero > " + place / "f" + "; wc -c < " + place / "f");
  EXPECT_EQ(run_command_with(document, command).out, "8192\n");
  document.fsize = 4'096;
  EXPECT_EQ(run_command_with(document, command).out, "4096\n");
}

TEST(Stage2Restriction, GivesTheCallersDescriptorLimitBack) {
  const Start start{.launcher = {}, .in_child = [] {
                      const rlimit raised{.rlim_cur = 300, .rlim_max = 300};
                      ::setrlimit(RLIMIT_NOFILE, &raised);
                    }};
  PrepareDocument document = plain_document();
  const CommitDocument command = shell("ulimit -Sn; ulimit -Hn");
  EXPECT_EQ(run_command_with(document, command, start).out, "300\n300\n");
  document.descriptor_limit = 100;
  EXPECT_EQ(run_command_with(document, command, start).out, "100\n300\n");
}

Start with_core_limit(rlim_t soft, rlim_t hard) {
  return {.launcher = {}, .in_child = [soft, hard] {
            const rlimit limit{.rlim_cur = soft, .rlim_max = hard};
            ::setrlimit(RLIMIT_CORE, &limit);
          }};
}

// guard 5.2: I3; field B71
TEST(Stage2Restriction, NoCoreIsDumpedWhateverTheCallersLimit) {
  const CommitDocument command = shell("awk '/core file/ {print $5, $6}' /proc/self/limits");
  const rlim_t most = RLIM_INFINITY;
  EXPECT_EQ(run_command_with(plain_document(), command, with_core_limit(most, most)).out, "1 1\n");
  EXPECT_EQ(run_command_with(plain_document(), command, with_core_limit(0, most)).out, "1 1\n");
  EXPECT_EQ(run_command_with(plain_document(), command, with_core_limit(0, 0)).out, "0 0\n");
}

TEST(Stage2Restriction, NeverRaisesALimit) {
  const Start start{.launcher = {}, .in_child = [] {
                      const rlimit low{.rlim_cur = 2, .rlim_max = 3};
                      ::setrlimit(RLIMIT_CPU, &low);
                    }};
  PrepareDocument document = plain_document();
  document.cpu_soft = 5;
  document.cpu_hard = 6;
  EXPECT_EQ(run_command_with(document, shell("ulimit -St; ulimit -Ht"), start).out, "2\n3\n");
}

constexpr const char* kCapsCommand = "grep ^Cap /proc/self/status";

TEST(Stage2Restriction, NobodyHoldsACapability) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs uid 0";
  EXPECT_EQ(run_command_with(plain_document(), shell(kCapsCommand)).out,
            "CapInh:\t0000000000000000\n"
            "CapPrm:\t0000000000000000\n"
            "CapEff:\t0000000000000000\n"
            "CapBnd:\t0000000000000000\n"
            "CapAmb:\t0000000000000000\n");
  EXPECT_THAT(report_of(plain_document()).applied, ElementsAre("no-new-privs", "caps=none"));
}

TEST(Stage2Restriction, KeepsWhatItWasToldToKeep) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs uid 0";
  PrepareDocument document = plain_document();
  document.keep_caps = {CAP_NET_RAW, CAP_CHOWN};
  EXPECT_EQ(run_command_with(document, shell(kCapsCommand)).out,
            "CapInh:\t0000000000002001\n"
            "CapPrm:\t0000000000002001\n"
            "CapEff:\t0000000000002001\n"
            "CapBnd:\t0000000000002001\n"
            "CapAmb:\t0000000000002001\n");
  EXPECT_THAT(report_of(document).applied,
              ElementsAre("no-new-privs", "caps=CAP_CHOWN,CAP_NET_RAW"));
}

TEST(Stage2Restriction, RootIsNobodySpecialForExecve) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs uid 0";
  CommitDocument command = shell("");
  command.argv = {"/usr/bin/python3", "-c",
                  "import ctypes; print(ctypes.CDLL(None).prctl(27, 0, 0, 0, 0))"};
  // PR_GET_SECUREBITS: SECBIT_NOROOT and SECBIT_NO_CAP_AMBIENT_RAISE, each with its lock.
  EXPECT_EQ(run_command_with(plain_document(), command).out, "195\n");
}

// Root that may not drop its bounding set.
void give_up_setpcap() {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, 2> data{};
  ::syscall(SYS_capget, &header, data.data());
  data[0].permitted &= ~(1U << CAP_SETPCAP);
  data[0].effective &= ~(1U << CAP_SETPCAP);
  ::prctl(PR_SET_SECUREBITS, 1);  // SECBIT_NOROOT: execve gives nothing back …
  // … but for what is ambient.
  data[0].inheritable = data[0].permitted & 1U << CAP_CHOWN;
  ::syscall(SYS_capset, &header, data.data());
}

TEST(Stage2Restriction, ABoundingSetThatStaysIsNamed) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs uid 0";
  const Start start{.launcher = {}, .in_child = give_up_setpcap};
  EXPECT_THAT(report_of(plain_document(), start).applied,
              ElementsAre("no-new-privs", "unheld:caps=bounding"));
}

TEST(Stage2Restriction, WhatIsNotHeldCannotBeKept) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs uid 0";
  PrepareDocument document = plain_document();
  document.keep_caps = {CAP_NET_RAW};
  Stage2Run run(document, {.launcher = {}, .in_child = give_up_setpcap});
  EXPECT_THAT(run.read_report(), IsEmpty());
  const auto message = run.receive();
  ASSERT_TRUE(message);
  EXPECT_EQ(message->step, Stage2Step::kCapabilities);
  EXPECT_THAT(message->detail, HasSubstr("CAP_NET_RAW"));
  EXPECT_EQ(run.wait().code, 126);
}

TEST(Stage2Restriction, ForbidsNewPrivileges) {
  const std::string command = "grep NoNewPrivs /proc/self/status";
  EXPECT_EQ(run_command_with(plain_document(), shell(command)).out, "NoNewPrivs:\t1\n");
}

TEST(Stage2Restriction, LandlockAllowsInsideAndDeniesOutside) {  // cases.md 139
  const int abi = landlock_abi(1);
  if (abi == 0) GTEST_SKIP() << "kernel without Landlock";
  const TemporaryDirectory inside;
  const TemporaryDirectory outside;
  const CommitDocument command =
      shell("echo x > " + inside / "f" + " && echo inside; echo x > " + outside / "f" +
            " && echo outside; echo x > /dev/null && cat /etc/hostname > /dev/null && echo null");
  EXPECT_EQ(run_command_with(landlock_document(abi, inside.str()), command).out, "inside\nnull\n");
  EXPECT_EQ(run_command_with(plain_document(), command).out, "inside\noutside\nnull\n");
}

TEST(Stage2Restriction, LandlockScopesSignals) {
  const int abi = landlock_abi(6);
  if (abi == 0) GTEST_SKIP() << "kernel without Landlock scopes";
  const std::string script =
      "kill -0 " + std::to_string(::getpid()) + " && echo others; sleep 9 & kill $! && echo own";
  EXPECT_EQ(run_command_with(landlock_document(abi, "/tmp"), shell(script)).out, "own\n");
  PrepareDocument document = landlock_document(abi, "/tmp");
  document.landlock_scoped = 0;
  EXPECT_EQ(run_command_with(document, shell(script)).out, "others\nown\n");
}

// Prepares a document that must be refused and returns what the host is told.
ControlMessage refusal_of(const PrepareDocument& document, const Start& start = {}) {
  Stage2Run run(document, start);
  EXPECT_THAT(run.read_report(), IsEmpty());
  const auto message = run.receive();
  EXPECT_EQ(run.wait().code, 126);
  EXPECT_TRUE(message);
  return message.value_or(ControlMessage{});
}

TEST(Stage2Restriction, AnAbsentRequiredRuleIsFatal) {
  const int abi = landlock_abi(1);
  if (abi == 0) GTEST_SKIP() << "kernel without Landlock";
  PrepareDocument document = landlock_document(abi, "/tmp");
  document.landlock_rules.back().required = true;
  const ControlMessage message = refusal_of(document);
  EXPECT_EQ(message.step, Stage2Step::kLandlock);
  EXPECT_EQ(message.detail, "/no/such/root");
  EXPECT_EQ(message.error, ENOENT);
}

TEST(Stage2Restriction, ARuleIsNeverGrantedThroughALink) {
  const int abi = landlock_abi(1);
  if (abi == 0) GTEST_SKIP() << "kernel without Landlock";
  const TemporaryDirectory place;
  ASSERT_EQ(::symlink("/usr", (place / "link").c_str()), 0);
  const PrepareDocument document = landlock_document(abi, place / "link");
  for (const Start& start : {Start{}, Start{.launcher = {}, .in_child = forget_new_calls}}) {
    const ControlMessage message = refusal_of(document, start);
    EXPECT_EQ(message.step, Stage2Step::kLandlock);
    EXPECT_EQ(message.error, ELOOP);
  }
}

TEST(Stage2Restriction, ARightThatTheKernelDoesNotKnowIsFatal) {
  const int abi = landlock_abi(1);
  if (abi == 0) GTEST_SKIP() << "kernel without Landlock";
  PrepareDocument document = landlock_document(abi, "/tmp");
  document.landlock_handled_fs |= std::uint64_t{1} << 60U;
  EXPECT_EQ(refusal_of(document).step, Stage2Step::kLandlock);
}

constexpr const char* kSocketScript =
    "import socket\n"
    "for f in ('AF_UNIX', 'AF_INET', 'AF_INET6'):\n"
    "    try: socket.socket(getattr(socket, f)); print(f)\n"
    "    except OSError as e: print(f, e.errno)\n";

TEST(Stage2Restriction, TheFilterAllowsUnixSocketsAndDeniesInternetSockets) {
  PrepareDocument document = plain_document();
  CommitDocument command = shell("");
  command.argv = {"/usr/bin/python3", "-c", kSocketScript};
  EXPECT_THAT(run_command_with(document, command).out, StartsWith("AF_UNIX\nAF_INET\n"));
  document.filter_wanted = true;
  document.filter_tag = "seccomp-net";
  document.filter = unix_only_filter();
  EXPECT_EQ(run_command_with(document, command).out, "AF_UNIX\nAF_INET 1\nAF_INET6 1\n");
}

TEST(Stage2Restriction, AFilterThatTheKernelRefusesIsFatal) {
  PrepareDocument document = plain_document();
  document.filter = unix_only_filter();
  document.filter.resize(8);  // the program runs off its end
  EXPECT_EQ(refusal_of(document).step, Stage2Step::kFilter);
}

TEST(Stage2Restriction, AFilterWithoutATagClaimsNothing) {
  PrepareDocument document = plain_document();
  document.filter = unix_only_filter();
  EXPECT_THAT(report_of(document).applied, Not(Contains("seccomp-net")));
}

}  // namespace
}  // namespace loom::bwrap
