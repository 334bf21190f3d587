#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "stage2_run.h"

namespace loom::bwrap {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr long kClone3 = 435;
constexpr long kIoUringSetup = 425;

using Refusals = std::vector<std::pair<long, int>>;

// What stage 2 tries before it claims the deny-set.
const Refusals kShown = {
    {SYS_setns, EPERM}, {SYS_ioctl, EPERM}, {SYS_unshare, EPERM}, {kClone3, ENOSYS}};

std::vector<sock_filter> refusing(const Refusals& calls) {
  std::vector<sock_filter> program = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const auto& [call, error] : calls) {
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 1));
    program.push_back(
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error)));
  }
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  return program;
}

PrepareDocument document_with(const Refusals& calls) {
  const std::vector<sock_filter> program = refusing(calls);
  const auto bytes = std::as_bytes(std::span(program));
  PrepareDocument document = plain_document();
  document.filter = {bytes.begin(), bytes.end()};
  document.filter_denies = true;
  return document;
}

// A filter that somebody else put in force before.
Start inside_of(const Refusals& calls) {
  return {.launcher = {}, .in_child = [program = refusing(calls)]() mutable {
            const sock_fprog header{.len = static_cast<unsigned short>(program.size()),
                                    .filter = program.data()};
            if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &header) != 0) ::_exit(97);
          }};
}

Refusals all_but(long call) {
  Refusals left;
  for (const auto& each : kShown) {
    if (each.first != call) left.push_back(each);
  }
  return left;
}

class Stage2FilterTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs uid 0";
  }
  static std::vector<std::string> applied(const PrepareDocument& document,
                                          const Start& start = {}) {
    Stage2Run run(document, start);
    const auto report = run.await_ready();
    const Ended ended = run.wait();
    EXPECT_TRUE(report) << ended.err;
    return report ? report->applied : std::vector<std::string>{};
  }
};

TEST_F(Stage2FilterTest, TheDenySetIsClaimedBetweenCapabilitiesAndScopes) {
  PrepareDocument document = document_with(kShown);
  document.denies_unix = true;
  EXPECT_THAT(applied(document), ElementsAre("no-new-privs", "caps=none", "seccomp-deny",
                                             "unheld:socket-families", "unheld:unix-path"));
}

TEST_F(Stage2FilterTest, ADenySetThatNobodyAskedForIsNotClaimed) {
  PrepareDocument document = document_with(kShown);
  document.filter_denies = false;
  EXPECT_THAT(applied(document), Not(Contains(HasSubstr("seccomp-deny"))));
}

TEST_F(Stage2FilterTest, ACallThatIsNotRefusedIsTheEndOfTheClaim) {
  for (const auto& [call, error] : kShown) {
    EXPECT_THAT(applied(document_with(all_but(call))),
                Contains(StartsWith("unheld:seccomp-deny=the filter was taken")))
        << call;
  }
  Refusals wrong = all_but(kClone3);
  wrong.emplace_back(kClone3, EPERM);
  EXPECT_THAT(applied(document_with(wrong)), Contains(StartsWith("unheld:seccomp-deny=")));
}

TEST_F(Stage2FilterTest, AFilterThatTheKernelOnlyPretendsToTakeIsNotClaimed) {
  const auto entries =
      applied(document_with(kShown), {.launcher = {}, .in_child = withhold({SYS_seccomp})});
  EXPECT_THAT(entries, Contains(StartsWith("unheld:seccomp-deny=the filter was taken")));
  EXPECT_THAT(entries, Not(Contains("seccomp-deny")));
}

TEST_F(Stage2FilterTest, WhatSomebodyElseRefusedBeforeShowsNothing) {
  // One call that only ours refuses is enough; none is not.
  EXPECT_THAT(applied(document_with(kShown), inside_of(all_but(kClone3))),
              Contains("seccomp-deny"));
  EXPECT_THAT(applied(document_with(kShown), inside_of(kShown)),
              Contains(StartsWith("unheld:seccomp-deny=what could show it was refused")));
}

TEST_F(Stage2FilterTest, UnixSocketsAreDeniedOnlyWhenNoWayToMakeThemIsLeft) {
  const Refusals all = {{SYS_socket, EPERM}, {SYS_socketpair, EPERM}, {kIoUringSetup, ENOSYS}};
  PrepareDocument document = document_with(all);
  document.filter_denies = false;
  document.denies_unix = true;
  EXPECT_THAT(applied(document), Contains("unix-sockets=denied"));
  for (std::size_t left_out = 0; left_out < all.size(); ++left_out) {
    Refusals fewer = all;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(left_out));
    document.filter = document_with(fewer).filter;
    const auto entries = applied(document);
    EXPECT_THAT(entries, Contains("unheld:unix-path")) << left_out;
    EXPECT_THAT(entries, Not(Contains("unix-sockets=denied"))) << left_out;
  }
}

}  // namespace
}  // namespace loom::bwrap
