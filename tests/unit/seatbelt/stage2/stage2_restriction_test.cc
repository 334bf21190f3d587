#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <utility>

#include "stage2_run.h"
#include "tests/support/promised.h"

// What stage 2 puts in force, shown where the tests run: on Linux, whose RLIMIT_NPROC works as
// macOS's does (docs/platforms.md). Its count of the account's processes is another one here.
namespace loom::seatbelt {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// For InChild: becomes an account that has no process but this one, and another one each time. The
// superuser is not held to a limit of processes, and other accounts are busy.
InChild become_idle_account() {
  static uid_t runs = 0;
  const uid_t idle = 1'000'000 + static_cast<uid_t>(::getpid()) * 64 + runs++ % 64;
  return [idle] {
    if (::setgroups(0, nullptr) != 0 || ::setgid(idle) != 0 || ::setuid(idle) != 0) ::_exit(98);
  };
}

class SeatbeltStage2Account : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::getuid() != 0) LOOM_SKIP_UNLESS_PROMISED("only uid 0 becomes another account");
  }
};

struct Outcome {
  InnerReport report{};
  Ended ended{};
};

Outcome run_with(const PrepareDocument& document, const CommitDocument& command,
                 const InChild& in_child = {}) {
  Outcome outcome;
  Stage2Run run(document, in_child);
  auto report = run.await_ready();
  EXPECT_TRUE(report);
  if (report) outcome.report = std::move(*report);
  if (report) run.commit(command);
  outcome.ended = run.wait();
  return outcome;
}

// cases.md 219
TEST(SeatbeltStage2Report, NamesTheLifecycleAlwaysAndNothingThatWasNotAsked) {
  const Outcome outcome = run_with({}, shell("echo ran"));
  EXPECT_EQ(outcome.ended.out, "ran\n");
  EXPECT_THAT(outcome.report.applied, ElementsAre());
  EXPECT_THAT(outcome.report.skipped, ElementsAre(StartsWith("darwin-process-lifecycle: ")));
}

TEST(SeatbeltStage2Report, NamesTheProxyThatIsMissing) {
  PrepareDocument document;
  document.proxy_asked = true;
  const Outcome outcome = run_with(document, shell("true"));
  EXPECT_THAT(outcome.report.skipped,
              ElementsAre(StartsWith("darwin-process-lifecycle: "), StartsWith("network-proxy: ")));
}

TEST(SeatbeltStage2Limits, HoldsFileSizeAndProcessorTime) {
  PrepareDocument document;
  document.fsize_bytes = 8'192;
  document.cpu_s = 7;
  const Outcome outcome = run_with(document, shell("ulimit -f; ulimit -St; ulimit -Ht"));
  EXPECT_THAT(outcome.report.applied, ElementsAre("rlimit-fsize", "rlimit-cpu"));
  EXPECT_EQ(outcome.ended.out, "8\n7\n8\n");
}

TEST(SeatbeltStage2Limits, AFileThatIsTooLargeEndsItsWriter) {
  const TemporaryDirectory place;
  PrepareDocument document;
  document.fsize_bytes = 8'192;
  const std::string write = "head -c 8000 /dev/zero > " + place / "small" +
                            " && echo small; exec head -c 9000 /dev/zero > " + place / "large";
  const Outcome outcome = run_with(document, shell(write));
  EXPECT_EQ(outcome.ended.out, "small\n");
  EXPECT_EQ(outcome.ended.signal, SIGXFSZ);
}

TEST(SeatbeltStage2Limits, NeverRaisesALimit) {
  PrepareDocument document;
  document.fsize_bytes = 8'192;
  document.cpu_s = UINT64_MAX;
  const InChild lower = [] {
    const rlimit size{.rlim_cur = 1'024, .rlim_max = 2'048};
    const rlimit time{.rlim_cur = 5, .rlim_max = 9};
    ::setrlimit(RLIMIT_FSIZE, &size);
    ::setrlimit(RLIMIT_CPU, &time);
  };
  const Outcome outcome =
      run_with(document, shell("ulimit -Sf; ulimit -Hf; ulimit -St; ulimit -Ht"), lower);
  EXPECT_EQ(outcome.ended.out, "1\n2\n5\n9\n");
}

TEST(SeatbeltStage2Limits, GivesBackTheDescriptorLimit) {
  PrepareDocument document;
  document.descriptor_limit = 99;
  const InChild raise = [] {
    const rlimit many{.rlim_cur = 4'000, .rlim_max = 4'000};
    ::setrlimit(RLIMIT_NOFILE, &many);
  };
  EXPECT_EQ(run_with({}, shell("ulimit -Sn"), raise).ended.out, "4000\n");
  EXPECT_EQ(run_with(document, shell("ulimit -Sn; ulimit -Hn"), raise).ended.out, "99\n4000\n");
}

TEST(SeatbeltStage2Limits, ForbidsDumps) {
  const InChild allow_dumps = [] {
    const rlimit large{.rlim_cur = 1 << 20, .rlim_max = 1 << 20};
    if (::setrlimit(RLIMIT_CORE, &large) != 0) ::_exit(96);
  };
  EXPECT_EQ(run_with({}, shell("ulimit -Sc; ulimit -Hc"), allow_dumps).ended.out, "0\n0\n");
}

// cases.md 218: here it is applied, and its failure is the next test's.
TEST(SeatbeltStage2Limits, TriesTheAddressSpace) {
  PrepareDocument document;
  document.address_space_bytes = std::uint64_t{4} << 30U;
  const Outcome outcome = run_with(document, shell("ulimit -Sv; ulimit -Hv"));
  EXPECT_THAT(outcome.report.applied, ElementsAre("rlimit-address-space"));
  EXPECT_EQ(outcome.ended.out, "4194304\n4194304\n");
}

// For in_child: from here on `call` fails with `error` when its argument `place` is `value`; with
// place -1 whatever the arguments.
void refuse_call(long call, int error, int place, std::uint32_t value) {
  const auto number = static_cast<std::uint32_t>(call);
  const auto offset = place < 0 ? offsetof(seccomp_data, nr)
                                : offsetof(seccomp_data, args) +
                                      sizeof(std::uint64_t) * static_cast<unsigned>(place);
  std::array<sock_filter, 6> program = {{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, place < 0 ? number : value, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog header{.len = program.size(), .filter = program.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &header) != 0) {
    ::_exit(97);
  }
}

// From here on the limit `resource` is refused with EINVAL when somebody sets it. prlimit64 reads
// with the same call: told apart by the pointer that is null then.
void refuse_limit(int resource, int error) {
  const auto number = static_cast<std::uint32_t>(SYS_prlimit64);
  const auto argument = [](unsigned place) {
    return static_cast<std::uint32_t>(offsetof(seccomp_data, args) + 8 * place);
  };
  std::array<sock_filter, 8> program = {{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 5),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, argument(1)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(resource), 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, argument(2)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog header{.len = program.size(), .filter = program.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &header) != 0) {
    ::_exit(97);
  }
}

// cases.md 218: as xnu answers.
TEST(SeatbeltStage2Limits, AnAddressSpaceThatIsRefusedIsSkippedAndTheCommandRuns) {
  PrepareDocument document;
  document.address_space_bytes = 1 << 20;
  const Outcome outcome =
      run_with(document, shell("ulimit -v; echo ran"), [] { refuse_limit(RLIMIT_AS, EINVAL); });
  EXPECT_THAT(outcome.report.applied, ElementsAre());
  EXPECT_THAT(outcome.report.skipped,
              Contains("rlimit-address-space: Invalid argument; mem_bytes is not in force"));
  EXPECT_EQ(outcome.ended.out, "unlimited\nran\n");
}

TEST(SeatbeltStage2Limits, ALimitOfEverySystemThatIsRefusedEndsTheRun) {
  PrepareDocument document;
  document.cpu_s = 7;
  Stage2Run run(document, [] { refuse_limit(RLIMIT_CPU, EINVAL); });
  EXPECT_TRUE(run.read_report().empty());
  const auto message = run.receive();
  ASSERT_TRUE(message);
  EXPECT_EQ(message->step, Stage2Step::kLimits);
  EXPECT_EQ(message->error, EINVAL);
  EXPECT_EQ(message->detail, "rlimit-cpu");
  EXPECT_EQ(run.wait().code, 126);
}

constexpr const char* kLimits = "ulimit -Su; ulimit -Hu";

// cases.md 217
TEST_F(SeatbeltStage2Account, ALimitJustAboveTheCountIsSkippedAndForksWork) {
  PrepareDocument document;
  document.processes = 2;  // stage 2 is the account's one process
  const Outcome outcome = run_with(
      document, shell("sleep 0 & sleep 0 & sleep 0 & wait; echo forked"), become_idle_account());
  EXPECT_THAT(outcome.report.applied, ElementsAre());
  EXPECT_THAT(outcome.report.skipped,
              Contains("rlimit-processes: this account has 1 processes already, which leaves a "
                       "limit of 2 too little room; pids is not in force"));
  EXPECT_EQ(outcome.ended.out, "forked\n");
}

// cases.md 217: the other side of the boundary.
TEST_F(SeatbeltStage2Account, ALimitWithAReserveIsHeld) {
  PrepareDocument document;
  document.processes = 17;
  const Outcome outcome = run_with(document, shell(kLimits), become_idle_account());
  EXPECT_THAT(outcome.report.applied, ElementsAre("rlimit-processes"));
  EXPECT_EQ(outcome.ended.out, "17\n17\n");
  document.processes = 16;
  EXPECT_THAT(run_with(document, shell(kLimits), become_idle_account()).report.skipped,
              Contains(StartsWith("rlimit-processes: ")));
}

TEST_F(SeatbeltStage2Account, ABurstOfForksMeetsTheLimit) {
  PrepareDocument document;
  const CommitDocument burst = shell(
      "for i in $(seq 1 40); do sleep 5 & done 2>/dev/null; jobs -p | wc -l; kill $(jobs -p)");
  const Outcome control = run_with(document, burst, become_idle_account());
  EXPECT_EQ(control.ended.out, "40\n");
  document.processes = 20;
  const Outcome outcome = run_with(document, burst, become_idle_account());
  ASSERT_THAT(outcome.report.applied, ElementsAre("rlimit-processes"));
  EXPECT_NE(outcome.ended.out, "40\n");
}

TEST_F(SeatbeltStage2Account, TheSuperuserIsToldThatTheLimitIsIdle) {
  PrepareDocument document;
  document.processes = 1'000'000;
  const Outcome outcome = run_with(document, shell("true"));
  EXPECT_THAT(outcome.report.applied, ElementsAre());
  EXPECT_THAT(outcome.report.skipped,
              Contains(HasSubstr("rlimit-processes: the kernel holds uid 0")));
}

TEST_F(SeatbeltStage2Account, ACountThatFailsIsASkip) {
  PrepareDocument document;
  document.processes = 1'000;
  const Outcome outcome = run_with(document, shell("echo ran"), [idle = become_idle_account()] {
    idle();
    refuse_call(SYS_getdents64, EACCES, -1, 0);
  });
  EXPECT_THAT(outcome.report.skipped, Contains("rlimit-processes: list /proc: Permission denied"));
  EXPECT_EQ(outcome.ended.out, "ran\n");
}

// guard 9.8: 159
TEST_F(SeatbeltStage2Account, TheForkBrakeIsTheCountAndItsBudget) {
  PrepareDocument document;
  document.fork_brake = 512;
  const Outcome outcome = run_with(document, shell(kLimits), become_idle_account());
  EXPECT_THAT(outcome.report.applied, ElementsAre("rlimit-processes"));
  EXPECT_EQ(outcome.ended.out, "513\n513\n");
}

// guard 9.8: 159
TEST_F(SeatbeltStage2Account, TheForkBrakeIsCappedByTheInheritedLimit) {
  PrepareDocument document;
  document.fork_brake = 512;
  const Outcome outcome = run_with(document, shell(kLimits), [idle = become_idle_account()] {
    const rlimit inherited{.rlim_cur = 100, .rlim_max = 200};
    ::setrlimit(RLIMIT_NPROC, &inherited);
    idle();
  });
  EXPECT_EQ(outcome.ended.out, "100\n200\n");  // and a soft limit is never raised
}

// guard 9.8: 160
TEST_F(SeatbeltStage2Account, WithoutACountTheForkBrakeRefuses) {
  PrepareDocument document;
  document.fork_brake = 512;
  Stage2Run run(document, [idle = become_idle_account()] {
    idle();
    refuse_call(SYS_getdents64, EACCES, -1, 0);
  });
  EXPECT_TRUE(run.read_report().empty());
  const auto message = run.receive();
  ASSERT_TRUE(message);
  EXPECT_EQ(message->kind, ControlKind::kFailed);
  EXPECT_EQ(message->step, Stage2Step::kLimits);
  EXPECT_EQ(message->detail, "fork brake: list /proc");
  const Ended ended = run.wait();
  EXPECT_EQ(ended.code, 126);
  EXPECT_EQ(ended.err, "loom-exec[stage2]: limits: fork brake: list /proc: Permission denied\n");
}

// guard 9.8: 160
TEST_F(SeatbeltStage2Account, AForkBrakeThatCannotBeSetRefuses) {
  PrepareDocument document;
  document.fork_brake = 512;
  Stage2Run run(document, [idle = become_idle_account()] {
    idle();
    refuse_limit(RLIMIT_NPROC, EPERM);
  });
  EXPECT_TRUE(run.read_report().empty());
  const auto message = run.receive();
  ASSERT_TRUE(message);
  EXPECT_EQ(message->step, Stage2Step::kLimits);
  EXPECT_EQ(message->error, EPERM);
  EXPECT_EQ(run.wait().code, 126);
}

TEST(SeatbeltStage2Limits, DescriptorsAreClosedWhereNobodyListsThem) {
  const InChild hide = [] {
    const rlimit many{.rlim_cur = 500, .rlim_max = 500};
    ::setrlimit(RLIMIT_NOFILE, &many);
    ::dup2(1, 77);
    ::dup2(1, 499);
    refuse_call(SYS_getdents64, EACCES, -1, 0);
  };
  const CommitDocument ask = shell(
      "for i in 3 4 5 77 499; do [ -e /proc/self/fd/$i ] && echo $i; done; [ -e /proc/self/fd/1 ] "
      "&& echo 1");
  EXPECT_EQ(run_with({}, ask, hide).ended.out, "1\n");
}

}  // namespace
}  // namespace loom::seatbelt
