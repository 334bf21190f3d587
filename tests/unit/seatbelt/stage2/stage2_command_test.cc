#include <errno.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "backends/seatbelt/stage2/run_command.h"
#include "stage2_run.h"

namespace loom::seatbelt {
namespace {

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
  Stage2Run run(PrepareDocument{});
  EXPECT_TRUE(run.await_ready());
  run.commit(document);
  refusal.message = run.receive();
  refusal.ended = run.wait();
  EXPECT_EQ(refusal.ended.code, 126);
  EXPECT_EQ(refusal.ended.out, "");
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

TEST(SeatbeltStage2Command, RunsWhatTheCommitSays) {
  Stage2Run run(PrepareDocument{});
  ASSERT_TRUE(run.await_ready());
  run.commit({.argv = {"/bin/echo", "a b", ""}, .environment = {}, .cwd = ""});
  EXPECT_FALSE(run.receive());  // end of file: the command is running
  const Ended ended = run.wait();
  EXPECT_EQ(ended.code, 0);
  EXPECT_EQ(ended.out, "a b \n");
  EXPECT_EQ(ended.err, "");
}

TEST(SeatbeltStage2Command, ItsExitCodeIsItsOwn) {
  EXPECT_EQ(run_command_with({}, shell("exit 7")).code, 7);
  EXPECT_EQ(run_command_with({}, shell("kill -9 $$")).signal, SIGKILL);
}

TEST(SeatbeltStage2Command, SeesExactlyTheEnvironmentOfTheCommit) {
  CommitDocument document = command({"env"});
  document.environment.emplace_back("A=1");
  const Ended ended = run_command_with({}, document, [] { ::setenv("SECRET", "leaked", 1); });
  EXPECT_EQ(ended.out, "PATH=/usr/bin:/bin\nA=1\n");
}

// The profile's own file is one of those that must not get through.
TEST(SeatbeltStage2Command, InheritsThreeDescriptors) {
  const InChild lend_more = [] {
    for (const int fd : {6, 77}) ::dup2(1, fd);
  };
  const Ended ended = run_command_with({}, command({"ls", "/proc/self/fd"}), lend_more);
  EXPECT_EQ(ended.out, "0\n1\n2\n3\n");  // the fourth is the listing's own
}

TEST(SeatbeltStage2Command, HoldsNothingButTheControlChannelWhileItWaits) {
  Stage2Run run(PrepareDocument{}, [] {
    for (const int fd : {6, 77}) ::dup2(1, fd);
  });
  ASSERT_TRUE(run.await_ready());
  std::set<std::string> open;
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc/" + std::to_string(run.pid()) + "/fd")) {
    open.insert(entry.path().filename());
  }
  EXPECT_THAT(open, ElementsAre("0", "1", "2", "5"));
}

TEST(SeatbeltStage2Command, ClosedStandardDescriptorsBecomeTheNullDevice) {
  const Ended ended =
      run_command_with({}, command({"readlink", "/proc/self/fd/0"}), [] { ::close(0); });
  EXPECT_EQ(ended.out, "/dev/null\n");
}

TEST(SeatbeltStage2Command, StartsWithDefaultSignals) {
  const InChild odd_signals = [] {
    for (const int signal : {SIGPIPE, SIGHUP, SIGXFSZ}) ::signal(signal, SIG_IGN);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    ::sigprocmask(SIG_BLOCK, &set, nullptr);
  };
  const CommitDocument ask = command({"grep", "-E", "Sig(Blk|Ign)", "/proc/self/status"});
  EXPECT_EQ(run_command_with({}, ask, odd_signals).out,
            "SigBlk:\t0000000000000000\n"
            "SigIgn:\t0000000000000000\n");
}

TEST(SeatbeltStage2Command, KeepsTheUmask) {
  EXPECT_EQ(run_command_with({}, shell("umask"), [] { ::umask(0127); }).out, "0127\n");
}

TEST(SeatbeltStage2Command, LeadsItsSession) {
  const std::string ask = "ps -o sid= -p $$ | tr -d ' '; echo $$";
  for (const InChild& in_child : {InChild(), InChild([] {
                                    // As a child of the test that leads nothing.
                                    ::setpgid(0, 0);
                                  })}) {
    const std::string out = run_command_with({}, shell(ask), in_child).out;
    const auto line = out.find('\n');
    ASSERT_NE(line, std::string::npos);
    EXPECT_EQ(out.substr(0, line + 1), out.substr(line + 1));
  }
}

TEST(SeatbeltStage2Command, StartsInItsDirectory) {
  CommitDocument document = command({"readlink", "/proc/self/cwd"});
  EXPECT_EQ(run_command_with({}, document).out, "/\n");
  document.cwd = "/usr/bin";
  EXPECT_EQ(run_command_with({}, document).out, "/usr/bin\n");
}

TEST(SeatbeltStage2Command, NeverRunsInAnotherDirectory) {
  const TemporaryDirectory place;
  place.write("file", "");
  CommitDocument document = shell("echo ran");
  document.cwd = place / "absent";
  expect_failure(refuse(document), Stage2Step::kDirectory, ENOENT, place / "absent");
  document.cwd = place / "file";
  expect_failure(refuse(document), Stage2Step::kDirectory, ENOTDIR, place / "file");
  document.cwd = "usr";
  expect_failure(refuse(document), Stage2Step::kDirectory, EINVAL, "usr");
}

TEST(SeatbeltStage2Command, AnAbsentProgramIsALookupFailure) {
  for (const char* name : {"no-such-program", "/no/such/program", "/etc/passwd/x", ""}) {
    expect_failure(refuse(command({name})), Stage2Step::kLookup, ENOENT, name);
  }
}

TEST(SeatbeltStage2Command, WithoutPathNothingIsFound) {
  expect_failure(refuse({.argv = {"ls"}, .environment = {}, .cwd = ""}), Stage2Step::kLookup,
                 ENOENT, "ls");
}

TEST(SeatbeltStage2Command, AProgramWithoutPermissionIsAnExecuteFailure) {
  const TemporaryDirectory place;
  place.write("tool", "#!/bin/sh\necho ran\n", 0644);
  const std::string path = place / "tool";
  expect_failure(refuse(command({path})), Stage2Step::kExecute, EACCES, path);
  expect_failure(refuse(command({"tool"}, place.str() + ":/bin")), Stage2Step::kExecute, EACCES,
                 path);
  ASSERT_EQ(::chmod(path.c_str(), 0755), 0);
  EXPECT_EQ(run_command_with({}, command({"tool"}, place.str())).out, "ran\n");
}

TEST(SeatbeltStage2Command, ASearchGoesOnBehindWhatSaysNothingAboutTheProgram) {
  const TemporaryDirectory place;
  place.write("echo", "not a program", 0644);
  const std::string path = "/etc/passwd:/no/such/directory:" + place.str() + ":/bin";
  EXPECT_EQ(run_command_with({}, command({"echo", "hi"}, path)).out, "hi\n");
  for (const int error : {ENOENT, ENOTDIR, EACCES, EPERM}) EXPECT_TRUE(looks_further(error));
  for (const int error : {ENOEXEC, E2BIG, ENOMEM, ETXTBSY}) EXPECT_FALSE(looks_further(error));
}

TEST(SeatbeltStage2Command, AnEmptyEntryOfPathIsTheWorkingDirectory) {
  const TemporaryDirectory place;
  place.write("tool", "#!/bin/sh\necho ran\n", 0755);
  for (const auto& [name, path] : {std::pair("tool", "/no/such:"), std::pair("./tool", "/bin")}) {
    CommitDocument document = command({name}, path);
    document.cwd = place.str();
    EXPECT_EQ(run_command_with({}, document).out, "ran\n");
  }
}

TEST(SeatbeltStage2Command, AMissingScriptInterpreterIsNamed) {
  const TemporaryDirectory place;
  place.write("script", "#! /no/such/interpreter -x\n", 0755);
  const std::string detail = place / "script" + ": interpreter /no/such/interpreter";
  expect_failure(refuse(command({place / "script"})), Stage2Step::kExecute, ENOENT, detail);
  expect_failure(refuse(command({"script"}, place.str())), Stage2Step::kExecute, ENOENT, detail);
}

TEST(SeatbeltStage2Command, ATextWithoutAnInterpreterIsNotHandedToAShell) {
  const TemporaryDirectory place;
  place.write("text", "echo ran\n", 0755);
  expect_failure(refuse(command({place / "text"})), Stage2Step::kExecute, ENOEXEC, "text");
}

TEST(SeatbeltStage2Command, AFailureStaysOneLine) {
  const Refusal refusal = refuse(command({"/no/such\nprogram"}));
  EXPECT_EQ(refusal.ended.err.find('\n'), refusal.ended.err.size() - 1);
}

// Version 3: argv[0] is what the command sees, and another file what it is.
TEST(SeatbeltStage2Admitted, RunsTheJudgedProgramUnderTheSpelledName) {
  const TemporaryDirectory place;
  place.write("tool", "#!/bin/sh\necho \"$0\" \"$1\"\n", 0755);
  CommitDocument document = command({"spelled", "x"});
  document.program = place / "tool";
  document.program_identity = identity_of(document.program);
  EXPECT_EQ(run_command_with({}, document).out, document.program + " x\n");
  document.argv = {"spelled", "-c", "echo $0"};
  document.program = std::filesystem::canonical("/bin/sh");
  document.program_identity = identity_of(document.program);
  EXPECT_EQ(run_command_with({}, document).out, "spelled\n");
}

TEST(SeatbeltStage2Admitted, RunsAProgramThatMayNotBeRead) {
  const TemporaryDirectory place;
  std::filesystem::copy_file("/bin/echo", place / "tool");
  ASSERT_EQ(::chmod(place.str().c_str(), 0755), 0);
  ASSERT_EQ(::chmod((place / "tool").c_str(), 0111), 0);
  CommitDocument document = command({"echo", "ran"});
  document.program = place / "tool";
  document.program_identity = identity_of(document.program);
  const InChild as_nobody = [] {
    if (::getuid() == 0 && ::setuid(54'321) != 0) ::_exit(98);
  };
  EXPECT_EQ(run_command_with({}, document, as_nobody).out, "ran\n");
}

TEST(SeatbeltStage2Admitted, NothingElseRunsInItsPlace) {
  const TemporaryDirectory place;
  place.write("tool", "#!/bin/sh\necho ran\n", 0755);
  CommitDocument document = command({"tool"});
  document.program = place / "tool";
  document.program_identity = identity_of(document.program);
  ASSERT_EQ(run_command_with({}, document).out, "ran\n");

  std::filesystem::rename(place / "tool", place / "old");
  expect_failure(refuse(document), Stage2Step::kLookup, ENOENT, place / "tool");
  place.write("tool", "#!/bin/sh\necho another\n", 0755);
  expect_failure(refuse(document), Stage2Step::kExecute, 0, "exchanged since it was judged");
  std::filesystem::remove(place / "tool");
  std::filesystem::create_symlink("old", place / "tool");
  expect_failure(refuse(document), Stage2Step::kExecute, 0, "exchanged since it was judged");
}

TEST(SeatbeltStage2Admitted, NoLinkLeadsThere) {
  const TemporaryDirectory place;
  std::filesystem::create_directory(place / "real");
  place.write("real/tool", "#!/bin/sh\necho ran\n", 0755);
  std::filesystem::create_symlink("real", place / "linked");
  CommitDocument document = command({"tool"});
  document.program = place / "real/tool";
  document.program_identity = identity_of(document.program);
  ASSERT_EQ(run_command_with({}, document).out, "ran\n");
  document.program = place / "linked/tool";
  expect_failure(refuse(document), Stage2Step::kExecute, 0, "exchanged since it was judged");
}

}  // namespace
}  // namespace loom::seatbelt
