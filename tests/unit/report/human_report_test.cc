#include "report/human_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace loom {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

ExecResult full_result() {
  ExecResult result;
  result.enforcement = {"bwrap",
                        "mounts:ro=2,rw=1,mask=3,bind_ro=0,bind_rw=1,scratch=tmpfs,base=minimal,"
                        "plan=0123456789abcdef",
                        "cgroup-v2",
                        "rlimit-fsize",
                        "rlimit-cpu",
                        "landlock:abi=7",
                        "no-new-privs",
                        "seccomp-net",
                        "caps=none",
                        "seccomp-deny",
                        "scopes=abstract,signal",
                        "mounts-by=handle",
                        "pins=2"};
  result.wall = std::chrono::milliseconds(1234);
  result.outcome = Outcome{
      .outcome = OutcomeClass::kExited, .detail = "exit 3", .first_cause = "", .shell_status = 3};
  return result;
}

std::vector<std::string> lines_of(const std::string& report) {
  std::vector<std::string> lines;
  std::istringstream stream(report);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string mounts_entry() {
  const std::vector<std::string> entries = full_result().enforcement;
  return *std::find_if(entries.begin(), entries.end(),
                       [](const std::string& entry) { return entry.starts_with("mounts:"); });
}

TEST(HumanReportTest, ACleanRunIsOneLineALayer) {
  EXPECT_THAT(
      lines_of(render_human_report(full_result())),
      ElementsAre(
          "loom-exec: held: jail: own namespaces and file tree (bubblewrap) [bwrap]",
          "loom-exec: held: view: 2 readable, 1 writable, 3 masked, 1 mounted read-write, tmpfs "
          "scratch, nothing else but the system, mounted by handle, 2 directories above "
          "protected paths pinned [" +
              mounts_entry() + " mounts-by=handle pins=2]",
          "loom-exec: held: ceilings: control group for memory and processes [cgroup-v2]",
          "loom-exec: held: limits: file size, CPU time [rlimit-fsize rlimit-cpu]",
          "loom-exec: held: files: Landlock rules (ABI 7), scoped: abstract,signal [landlock:abi=7 "
          "scopes=abstract,signal]",
          "loom-exec: held: privileges: no gain through setuid files, capabilities: none "
          "[no-new-privs caps=none]",
          "loom-exec: held: network: direct network refused [seccomp-net]",
          "loom-exec: held: system calls: dangerous calls refused [seccomp-deny]",
          "loom-exec: exited: exit 3, after 1.23 s"));
}

TEST(HumanReportTest, AGapWithAReasonIsExplainedAndAnUnknownOneIsShownAsItIs) {
  ExecResult result = full_result();
  result.enforcement = {"bwrap", "unheld:pid-namespace=no proc", "unheld:new=x"};
  const std::string report = render_human_report(result);
  EXPECT_THAT(report, HasSubstr("not held: the jail shows which processes the machine runs "
                                "[unheld:pid-namespace=no proc]\n"));
  EXPECT_THAT(report, HasSubstr("not held: new=x [unheld:new=x]\n"));
}

TEST(HumanReportTest, WhatWasNotHeldIsNamedWithItsReason) {
  ExecResult result = full_result();
  result.enforcement = {"skip:bwrap: no user namespaces", "no-new-privs", "unheld:unix-path",
                        "skip:cgroup-v2: no base; pids.max NOT applied"};
  result.degraded = true;

  const std::string report = render_human_report(result);

  EXPECT_THAT(report, HasSubstr("NOT held: bwrap: no user namespaces\n"));
  EXPECT_THAT(report, HasSubstr("NOT held: cgroup-v2: no base; pids.max NOT applied\n"));
  EXPECT_THAT(report, HasSubstr("can be connected to [unheld:unix-path]\n"));
  EXPECT_THAT(report, HasSubstr("outer jail\n"));
  EXPECT_THAT(report, Not(HasSubstr("held: jail:")));
}

TEST(HumanReportTest, WhatTheFilterHoldsIsOneLayer) {
  ExecResult result = full_result();
  result.enforcement = {"seccomp-deny", "unix-sockets=denied"};
  EXPECT_THAT(render_human_report(result),
              HasSubstr("held: system calls: dangerous calls refused, unix sockets denied "
                        "[seccomp-deny unix-sockets=denied]\n"));
  result.enforcement = {"unheld:seccomp-deny=Function not implemented"};
  EXPECT_THAT(render_human_report(result),
              HasSubstr("not held: dangerous system calls are not refused "
                        "[unheld:seccomp-deny=Function not implemented]\n"));
}

TEST(HumanReportTest, NothingHeldIsSaid) {
  ExecResult result = full_result();
  result.enforcement.clear();

  EXPECT_THAT(render_human_report(result), StartsWith("loom-exec: held: nothing\n"));
}

TEST(HumanReportTest, AnUnknownEntryIsShownAsItIs) {
  ExecResult result = full_result();
  result.enforcement = {"brand-new=1"};

  EXPECT_THAT(render_human_report(result), HasSubstr("held: also: further [brand-new=1]\n"));
}

TEST(HumanReportTest, CutStreamsAndTheFirstCauseAreTold) {
  ExecResult result = full_result();
  result.stdout_truncated = true;
  result.stdout_bytes = 4096;
  result.outcome.first_cause = "the wall clock";

  EXPECT_THAT(render_human_report(result),
              AllOf(HasSubstr("stdout: cut after 4096 bytes"),
                    HasSubstr("first cause: the wall clock\n"), Not(HasSubstr("stderr"))));
}

TEST(HumanReportTest, EveryLineIsOursWhateverTheEntriesHold) {
  ExecResult result = full_result();
  result.enforcement = {
      "a\nroot# rm", "skip:mounts: /\x1b[2J\n/x", "unheld:\r", "mounts:", "mounts:=,,=", "caps="};
  result.outcome.detail = "x\ny";

  EXPECT_THAT(lines_of(render_human_report(result)), Each(StartsWith("loom-exec: ")));
  EXPECT_THAT(render_human_report(result), Not(HasSubstr("\x1b")));
}

TEST(HumanReportTest, ProgramsHaveALineOfTheirOwn) {
  ExecResult result = full_result();
  result.enforcement = {"bwrap",
                        "exec-landlock:rules=12,listed=1,support=3",
                        "exec-dead=1",
                        "exec-writable=2",
                        "exec-links=3",
                        "exec-dropped=4",
                        "scrubbed:env=LD_PRELOAD"};

  const std::vector<std::string> lines = lines_of(render_human_report(result));

  ASSERT_GE(lines.size(), 2U);
  EXPECT_THAT(lines[1],
              AllOf(StartsWith("loom-exec: held: programs: only what the policy allows, 1 "),
                    HasSubstr("2 of the allowed directories can be written"),
                    HasSubstr("3 denied files"), HasSubstr("4 allowances without an object"),
                    HasSubstr("[exec-landlock:rules=12,listed=1,support=3 exec-dead=1 ")));
}

TEST(HumanReportTest, ATableThatTheKernelDoesNotHoldIsNotHeld) {
  ExecResult result = full_result();
  result.enforcement = {"bwrap", "unheld:exec-landlock=no Landlock"};

  EXPECT_THAT(render_human_report(result),
              HasSubstr("not held: the kernel does not confine which programs run "
                        "[unheld:exec-landlock=no Landlock]"));
}

}  // namespace
}  // namespace loom
