#include <errno.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "stage2_run.h"
#include "tests/support/read_file.h"

namespace loom::bwrap {
namespace {

using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

CommitDocument command(std::vector<std::string> argv, const std::string& path = "/usr/bin:/bin") {
  return {.argv = std::move(argv), .environment = {"PATH=" + path}, .cwd = ""};
}

struct Refusal {
  std::optional<ControlMessage> message;
  Ended ended;
};

// For commands that must not run.
Refusal refuse(const CommitDocument& document) {
  Refusal refusal;
  Stage2Run run(plain_document());
  EXPECT_TRUE(run.await_ready());
  run.commit(document);
  refusal.message = run.receive();
  refusal.ended = run.wait();
  EXPECT_EQ(refusal.ended.code, 126);
  return refusal;
}

void expect_failure(const Refusal& refusal, Stage2Step step, int error, const std::string& detail) {
  ASSERT_TRUE(refusal.message);
  EXPECT_EQ(refusal.message->kind, ControlKind::kFailed);
  EXPECT_EQ(refusal.message->step, step);
  EXPECT_EQ(refusal.message->error, error);
  EXPECT_THAT(refusal.message->detail, HasSubstr(detail));
  EXPECT_THAT(refusal.ended.err, HasSubstr(detail));
}

TEST(Stage2Command, RunsWhatTheCommitSays) {
  Stage2Run run(plain_document());
  ASSERT_TRUE(run.await_ready());
  run.commit({.argv = {"/bin/echo", "a b", ""}, .environment = {}, .cwd = ""});
  EXPECT_FALSE(run.receive());  // end of file: the command is running
  const Ended ended = run.wait();
  EXPECT_EQ(ended.code, 0);
  EXPECT_EQ(ended.out, "a b \n");
  EXPECT_EQ(ended.err, "");
}

TEST(Stage2Command, ItsExitCodeIsItsOwn) {
  EXPECT_EQ(run_command_with(plain_document(), shell("exit 7")).code, 7);
  EXPECT_EQ(run_command_with(plain_document(), shell("kill -9 $$")).signal, SIGKILL);
}

TEST(Stage2Command, SeesExactlyTheEnvironmentOfTheCommit) {
  CommitDocument document = command({"env"});
  document.environment.emplace_back("A=1");
  const Start start{.launcher = {}, .in_child = [] { ::setenv("SECRET", "leaked", 1); }};
  const Ended ended = run_command_with(plain_document(), document, start);
  EXPECT_EQ(ended.out, "PATH=/usr/bin:/bin\nA=1\n");
}

TEST(Stage2Command, InheritsThreeDescriptors) {
  const Start start{.launcher = {}, .in_child = [] { ::dup2(1, 77); }};
  CommitDocument document = command({"ls", "/proc/self/fd"});
  EXPECT_EQ(run_command_with(plain_document(), document, start).out, "0\n1\n2\n3\n");
  document = shell("for f in /proc/$$/fd/*; do readlink $f; done; echo end");
  const Ended ended = run_command_with(plain_document(), document, start);
  EXPECT_THAT(ended.out, HasSubstr("end"));
  EXPECT_THAT(ended.out, Not(ContainsRegex("document|socket:|bwrap-stage2")));
}

TEST(Stage2Command, HoldsNothingButTheControlChannelWhileItWaits) {
  const Start start{.launcher = {}, .in_child = [] { ::dup2(1, 77); }};
  Stage2Run run(plain_document(), start);
  ASSERT_TRUE(run.await_ready());
  std::set<std::string> open;
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc/" + std::to_string(run.pid()) + "/fd")) {
    open.insert(entry.path().filename());
  }
  EXPECT_THAT(open, ElementsAre("0", "1", "2", "5"));
}

TEST(Stage2Command, InheritsThreeDescriptorsOnAKernelWithoutCloseRange) {
  const Start start{.launcher = {}, .in_child = [] {
                      ::dup2(1, 77);
                      forget_new_calls();
                    }};
  const CommitDocument document = command({"ls", "/proc/self/fd"});
  EXPECT_EQ(run_command_with(plain_document(), document, start).out, "0\n1\n2\n3\n");
  const CommitDocument absent = command({"no-such-program"});
  EXPECT_EQ(run_command_with(plain_document(), absent, start).code, 126);
}

TEST(Stage2Command, ClosedStandardDescriptorsBecomeTheNullDevice) {
  const Start start{.launcher = {}, .in_child = [] { ::close(0); }};
  const Ended ended =
      run_command_with(plain_document(), command({"readlink", "/proc/self/fd/0"}), start);
  EXPECT_EQ(ended.out, "/dev/null\n");
}

std::string signal_lines(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  std::string lines;
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("SigBlk") || line.starts_with("SigIgn")) lines.append(line + "\n");
  }
  return lines;
}

constexpr const char* kNoSignals =
    "SigBlk:\t0000000000000000\n"
    "SigIgn:\t0000000000000000\n";

void inherit_odd_signals() {
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGHUP, SIG_IGN);
  const std::array<unsigned long, 8> ignore = {1};
  ::syscall(SYS_rt_sigaction, 33, ignore.data(), nullptr, 8);
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
}

// What a program sees that is started like stage 2 and does nothing about it.
std::string inherited_signal_lines() {
  const pid_t child = ::fork();
  if (child == 0) {
    inherit_odd_signals();
    ::execlp("sleep", "sleep", "100", nullptr);
    ::_exit(127);
  }
  std::string lines;
  for (int i = 0; i < 1000 && lines.find("4000") == std::string::npos; ++i) {
    ::usleep(1'000);
    lines = signal_lines(child);
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  return lines;
}

TEST(Stage2Command, StartsWithDefaultSignals) {
  const Start start{.launcher = {}, .in_child = inherit_odd_signals};
  EXPECT_EQ(inherited_signal_lines(),
            "SigBlk:\t0000000000004000\n"
            "SigIgn:\t0000000100001001\n");
  Stage2Run run(plain_document(), start);
  ASSERT_TRUE(run.await_ready());
  run.commit(command({"grep", "-E", "Sig(Blk|Ign)", "/proc/self/status"}));
  EXPECT_EQ(run.wait().out, kNoSignals);
}

TEST(Stage2Command, KeepsTheUmask) {
  const Start start{.launcher = {}, .in_child = [] { ::umask(0127); }};
  EXPECT_EQ(run_command_with(plain_document(), shell("umask"), start).out, "0127\n");
}

TEST(Stage2Command, StartsInItsDirectory) {
  CommitDocument document = shell("pwd; echo ${PWD-none}");
  document.cwd = "/usr/bin";
  EXPECT_THAT(run_command_with(plain_document(), document).out, HasSubstr("/usr/bin\n"));
  document = command({"readlink", "/proc/self/cwd"});
  EXPECT_EQ(run_command_with(plain_document(), document).out, "/\n");
}

TEST(Stage2Command, NeverRunsInAnotherDirectory) {
  const TemporaryDirectory place;
  place.write("file", "");
  CommitDocument document = shell("echo ran");
  document.cwd = place / "absent";
  const Refusal absent = refuse(document);
  expect_failure(absent, Stage2Step::kDirectory, ENOENT, place / "absent");
  EXPECT_EQ(absent.ended.out, "");
  document.cwd = place / "file";
  expect_failure(refuse(document), Stage2Step::kDirectory, ENOTDIR, place / "file");
  document.cwd = "usr";
  expect_failure(refuse(document), Stage2Step::kDirectory, EINVAL, "usr");
}

TEST(Stage2Command, AnAbsentProgramIsALookupFailure) {  // cases.md 109
  expect_failure(refuse(command({"no-such-program"})), Stage2Step::kLookup, ENOENT,
                 "no-such-program");
  expect_failure(refuse(command({"/no/such/program"})), Stage2Step::kLookup, ENOENT,
                 "/no/such/program");
  expect_failure(refuse(command({"/etc/passwd/x"})), Stage2Step::kLookup, ENOENT, "/etc/passwd/x");
  expect_failure(refuse(command({""})), Stage2Step::kLookup, ENOENT, "");
}

TEST(Stage2Command, WithoutPathNothingIsFound) {
  expect_failure(refuse({.argv = {"ls"}, .environment = {}, .cwd = ""}), Stage2Step::kLookup,
                 ENOENT, "ls");
}

TEST(Stage2Command, AProgramWithoutPermissionIsAnExecuteFailure) {
  const TemporaryDirectory place;
  place.write("tool", "#!/bin/sh\necho ran\n", 0644);
  const std::string path = place / "tool";
  expect_failure(refuse(command({path})), Stage2Step::kExecute, EACCES, path);
  expect_failure(refuse(command({"tool"}, place.str() + ":/bin")), Stage2Step::kExecute, EACCES,
                 path);
  ASSERT_EQ(::chmod(path.c_str(), 0755), 0);
  EXPECT_EQ(run_command_with(plain_document(), command({"tool"}, place.str())).out, "ran\n");
}

TEST(Stage2Command, ASearchGoesOnBehindAFileWithoutPermission) {
  const TemporaryDirectory place;
  place.write("echo", "not a program", 0644);
  const std::string path = "/etc/passwd:/no/such/directory:" + place.str() + ":/bin";
  EXPECT_EQ(run_command_with(plain_document(), command({"echo", "hi"}, path)).out, "hi\n");
}

TEST(Stage2Command, AnEmptyEntryOfPathIsTheWorkingDirectory) {
  const TemporaryDirectory place;
  place.write("tool", "#!/bin/sh\necho ran\n", 0755);
  CommitDocument document = command({"tool"}, "/no/such/directory:");
  document.cwd = place.str();
  EXPECT_EQ(run_command_with(plain_document(), document).out, "ran\n");
  document = command({"./tool"});
  document.cwd = place.str();
  EXPECT_EQ(run_command_with(plain_document(), document).out, "ran\n");
}

TEST(Stage2Command, AMissingScriptInterpreterIsNamed) {
  const TemporaryDirectory place;
  place.write("script", "#! /no/such/interpreter -x\n", 0755);
  const std::string detail = place / "script" + ": interpreter /no/such/interpreter";
  expect_failure(refuse(command({place / "script"})), Stage2Step::kExecute, ENOENT, detail);
  expect_failure(refuse(command({"script"}, place.str())), Stage2Step::kExecute, ENOENT, detail);
}

// A copy of a system program whose loader's path leads nowhere.
void break_loader(const std::string& from, const std::string& to) {
  std::string bytes = test::read_file(from);
  const auto at = bytes.find("/ld-linux");
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at, 9, "/no-linux");
  std::ofstream(to, std::ios::binary) << bytes;
  ASSERT_EQ(::chmod(to.c_str(), 0755), 0);
}

TEST(Stage2Command, AMissingLoaderIsNamed) {
  const TemporaryDirectory place;
  break_loader("/usr/bin/true", place / "program");
  expect_failure(refuse(command({place / "program"})), Stage2Step::kExecute, ENOENT, "/no-linux");
}

TEST(Stage2Command, ATextWithoutAnInterpreterIsNotHandedToAShell) {
  const TemporaryDirectory place;
  place.write("text", "echo ran\n", 0755);
  const Refusal refusal = refuse(command({place / "text"}));
  expect_failure(refusal, Stage2Step::kExecute, ENOEXEC, "text");
  EXPECT_EQ(refusal.ended.out, "");
}

TEST(Stage2Command, AFailureStaysOneLine) {
  const Refusal refusal = refuse(command({"/no/such\nprogram"}));
  EXPECT_EQ(refusal.ended.err.find('\n'), refusal.ended.err.size() - 1);
}

}  // namespace
}  // namespace loom::bwrap
