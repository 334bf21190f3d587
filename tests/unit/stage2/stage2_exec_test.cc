#include <errno.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "backends/bwrap/stage2/landlock_calls.h"
#include "stage2_run.h"
#include "tests/support/promised.h"

namespace loom::bwrap {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// What a shell needs to start, by its real names.
const std::string& shell_path() {
  static const std::string real = std::filesystem::canonical("/bin/sh").string();
  return real;
}

UniqueFd rules_for(const std::vector<std::string>& objects) {
  const bool refers = landlock_abi() >= static_cast<int>(kLandlockReferAbi);
  UniqueFd rules(create_rule_set(kLandlockExecute | (refers ? kLandlockRefer : 0), 0));
  EXPECT_TRUE(rules);
  for (const std::string& object : objects) {
    const UniqueFd at(::open(object.c_str(), O_PATH | O_CLOEXEC));
    EXPECT_EQ(add_path_rule(rules.get(), at.get(), kLandlockExecute), 0) << object;
  }
  return rules;
}

CommitDocument admitted(CommitDocument command, const std::string& program) {
  command.program = program;
  command.program_identity = identity_of(program);
  return command;
}

CommitDocument confined(const std::string& script) {
  CommitDocument document = admitted(shell(script), shell_path());
  document.exec_rules = true;
  return document;
}

struct Outcome {
  bool confined = false;
  std::optional<ControlMessage> failure;
  Ended ended;
};

Outcome run_with(const CommitDocument& document, int rules, const Start& start = {}) {
  PrepareDocument prepare = plain_document();
  const int abi = landlock_abi();
  prepare.landlock_abi = abi > 0 ? static_cast<std::uint32_t>(abi) : 0;
  prepare.landlock_handled_fs = (1U << 13U) - 1;
  if (prepare.landlock_abi >= kLandlockReferAbi) prepare.landlock_handled_fs |= kLandlockRefer;
  prepare.landlock_rules = {{.path = "/", .access = prepare.landlock_handled_fs, .required = true}};
  prepare.jailed = !start.launcher.empty();
  Stage2Run run(prepare, start);
  Outcome outcome;
  if (!run.await_ready()) {
    ADD_FAILURE() << "not ready: " << run.wait().err;
    return outcome;
  }
  run.commit(document, rules);
  for (auto message = run.receive(); message; message = run.receive()) {
    if (message->kind == ControlKind::kConfined) outcome.confined = true;
    if (message->kind == ControlKind::kFailed) outcome.failure = message;
  }
  outcome.ended = run.wait();
  return outcome;
}

void expect_refusal(const Outcome& outcome, Stage2Step step, int error, const std::string& detail) {
  EXPECT_EQ(outcome.ended.code, 126);
  EXPECT_THAT(outcome.ended.out, IsEmpty());
  ASSERT_TRUE(outcome.failure);
  EXPECT_EQ(outcome.failure->step, step) << outcome.ended.err;
  EXPECT_EQ(outcome.failure->error, error);
  EXPECT_THAT(outcome.failure->detail, HasSubstr(detail));
}

class Stage2Exec : public ::testing::Test {
 protected:
  void SetUp() override {
    if (landlock_abi() < 1) LOOM_SKIP_UNLESS_PROMISED("no Landlock");
    workspace.write("tool", "#!" + shell_path() + "\necho tool\n", 0755);
    workspace.write("other", "#!" + shell_path() + "\necho other\n", 0755);
  }

  // The shell, what loads it, and `tool`.
  [[nodiscard]] UniqueFd rules() const {
    return rules_for({shell_path(), "/usr/lib", workspace / "tool"});
  }

  TemporaryDirectory workspace;
};

// guard 9.6: 102, 103
TEST_F(Stage2Exec, TheHostHearsThatTheRulesHoldAndThenTheyDo) {
  const std::string run = workspace / "tool" + "; " + workspace / "other" + " 2>/dev/null; echo $?";
  const UniqueFd lent = rules();
  const Outcome outcome = run_with(
      confined(run + "; sh -c '" + workspace / "other" + "' 2>/dev/null; echo $?"), lent.get());
  EXPECT_TRUE(outcome.confined);
  EXPECT_FALSE(outcome.failure);
  EXPECT_EQ(outcome.ended.out, "tool\n126\n126\n") << outcome.ended.err;

  // The control: without rules all of it runs, and nobody says that it is confined.
  const Outcome free = run_with(admitted(shell(run), shell_path()), -1);
  EXPECT_FALSE(free.confined);
  EXPECT_EQ(free.ended.out, "tool\nother\n0\n");
}

TEST_F(Stage2Exec, AProgramThatTheRulesDoNotAdmitIsRefusedByTheKernel) {
  const UniqueFd lent = rules_for({"/usr/lib"});
  const Outcome outcome = run_with(confined("echo ran"), lent.get());
  EXPECT_TRUE(outcome.confined);
  expect_refusal(outcome, Stage2Step::kExecute, EACCES, shell_path());
}

// guard 3.8
TEST_F(Stage2Exec, TheJudgedFileIsExecutedUnderTheSpelledName) {
  CommitDocument document =
      admitted({.argv = {"spelled", "-c", "echo $0"}, .environment = {"PATH=/nowhere"}, .cwd = "/"},
               shell_path());
  EXPECT_EQ(run_with(document, -1).ended.out, "spelled\n");
  document.argv.front() = "";
  document.argv.push_back("given");
  EXPECT_EQ(run_with(document, -1).ended.out, "given\n");
}

// guard 3.8
// guard 9.5: 101
TEST_F(Stage2Exec, AnotherObjectThanTheJudgedOneIsNotExecuted) {
  CommitDocument document =
      admitted({.argv = {"x"}, .environment = {}, .cwd = "/"}, workspace / "tool");
  EXPECT_EQ(run_with(document, -1).ended.out, "tool\n");
  std::filesystem::rename(workspace / "other", workspace / "tool");
  expect_refusal(run_with(document, -1), Stage2Step::kExecute, 0, "exchanged");
  std::filesystem::remove(workspace / "tool");
  expect_refusal(run_with(document, -1), Stage2Step::kLookup, ENOENT, workspace / "tool");
  std::filesystem::create_symlink(shell_path(), workspace / "tool");
  document.program_identity = identity_of(shell_path());
  expect_refusal(run_with(document, -1), Stage2Step::kExecute, ELOOP, workspace / "tool");
}

TEST_F(Stage2Exec, ALinkOnTheWayToTheJudgedFileIsNotFollowed) {
  std::filesystem::create_directory(workspace / "d");
  std::filesystem::rename(workspace / "tool", workspace / "d/tool");
  const CommitDocument document =
      admitted({.argv = {"x"}, .environment = {}, .cwd = "/"}, workspace / "d/tool");
  EXPECT_EQ(run_with(document, -1).ended.out, "tool\n");
  std::filesystem::rename(workspace / "d", workspace / "moved");
  std::filesystem::create_directory_symlink("moved", workspace / "d");
  for (const bool old_kernel : {false, true}) {
    const Start start{.launcher = {}, .in_child = old_kernel ? forget_new_calls : nullptr};
    expect_refusal(run_with(document, -1, start), Stage2Step::kExecute, ELOOP, "d/tool");
  }
}

TEST_F(Stage2Exec, ARuleSetThatWasPromisedAndDidNotComeEndsWith126) {
  expect_refusal(run_with(confined("echo ran"), -1), Stage2Step::kExecRules, 0, "did not come");
}

TEST_F(Stage2Exec, WhatIsNoRuleSetEndsWith126) {
  const UniqueFd file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const Outcome outcome = run_with(confined("echo ran"), file.get());
  EXPECT_FALSE(outcome.confined);
  expect_refusal(outcome, Stage2Step::kExecRules, EBADFD, "");
}

TEST_F(Stage2Exec, ARuleSetThatNobodySpeaksOfEndsWith126) {
  CommitDocument document = confined("echo ran");
  document.exec_rules = false;
  const UniqueFd lent = rules();
  expect_refusal(run_with(document, lent.get()), Stage2Step::kCommit, 0, "descriptor");
}

// guard 4.7; 9.6: 111
TEST_F(Stage2Exec, RenamingBetweenDirectoriesIsNotThisLayersToRefuse) {
  if (landlock_abi() < static_cast<int>(kLandlockReferAbi)) {
    LOOM_SKIP_UNLESS_PROMISED("Landlock ABI 1");
  }
  std::filesystem::create_directory(workspace / "a");
  std::filesystem::create_directory(workspace / "b");
  workspace.write("a/f", "");
  workspace.write("a/gain", "", 0755);
  std::filesystem::create_directory(workspace / "ok");
  const UniqueFd lent = rules_for({"/usr", workspace / "ok"});
  // A rename alone: mv would copy after EXDEV.
  const auto rename = [&](const std::string& from, const std::string& to) {
    return "perl -e 'print rename(\"" + workspace / from + "\", \"" + workspace / to +
           "\") ? \"moved \" : \"no:\" . ($!+0) . \" \"'; ";
  };
  const Outcome outcome =
      run_with(confined(rename("a/f", "b/f") + rename("a/gain", "ok/gain")), lent.get());
  EXPECT_EQ(outcome.ended.out, "moved no:" + std::to_string(EXDEV) + " ") << outcome.ended.err;
}

// guard 4.7
TEST_F(Stage2Exec, TheKernelsBoundOnLayersIsNamed) {
  const Start start{.launcher = {}, .in_child = [] {
                      static constexpr std::uint64_t kMakeSocket = 1U << 9U;
                      bool done = ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
                      for (int layer = 0; layer < 15; ++layer) {
                        const UniqueFd rules(create_rule_set(kMakeSocket, 0));
                        done = done && restrict_self(rules.get(), 0) == 0;
                      }
                      if (!done) ::_exit(97);
                    }};
  const UniqueFd lent = rules();
  // The sixteenth is stage 2's own.
  expect_refusal(run_with(confined("echo ran"), lent.get(), start), Stage2Step::kExecRules, E2BIG,
                 "16 layers");
}

TEST_F(Stage2Exec, TheDirectoryIsEnteredFirst) {
  CommitDocument document = confined("echo ran");
  document.cwd = "/no/such/directory";
  const UniqueFd lent = rules();
  const Outcome outcome = run_with(document, lent.get());
  EXPECT_FALSE(outcome.confined);
  expect_refusal(outcome, Stage2Step::kDirectory, ENOENT, "/no/such/directory");
}

TEST_F(Stage2Exec, TheCommandDoesNotInheritTheRuleSet) {
  const UniqueFd lent = rules_for({"/usr"});
  const Outcome outcome = run_with(confined("ls /proc/self/fd; echo end"), lent.get());
  EXPECT_EQ(outcome.ended.out, "0\n1\n2\n3\nend\n");
}

// Inside a jail, where "/tmp" can be its own.
class Stage2ExecScratch : public Stage2Exec {
 protected:
  void SetUp() override {
    Stage2Exec::SetUp();
    const int status = std::system(
        "bwrap --unshare-pid --ro-bind / / --proc /proc /bin/true </dev/null >/dev/null 2>&1");
    if (status != 0) LOOM_SKIP_UNLESS_PROMISED("bubblewrap makes no jail");
    document = confined("printf '#!" + shell_path() +
                        "\\necho built\\n' >/tmp/p && "
                        "chmod 755 /tmp/p && /tmp/p 2>/dev/null; echo $?");
    document.scratch_runs = true;
  }
  [[nodiscard]] static Start jail(std::initializer_list<const char*> scratch) {
    Start start{.launcher = {"--die-with-parent",
                             "--unshare-user",
                             "--disable-userns",
                             "--unshare-pid",
                             "--ro-bind",
                             "/usr",
                             "/usr",
                             "--symlink",
                             "usr/lib",
                             "/lib",
                             "--symlink",
                             "usr/lib64",
                             "/lib64",
                             "--symlink",
                             "usr/bin",
                             "/bin",
                             "--proc",
                             "/proc",
                             "--dev",
                             "/dev"},
                .in_child = {}};
    start.launcher.insert(start.launcher.end(), scratch.begin(), scratch.end());
    return start;
  }

  CommitDocument document;
};

// guard 4.8; 9.6: 114, 115
TEST_F(Stage2ExecScratch, WhatIsMadeInAScratchOfTheJailsOwnRunsWhereThatIsSaid) {
  const UniqueFd lent = rules_for({"/usr"});
  const Outcome outcome = run_with(document, lent.get(), jail({"--tmpfs", "/tmp"}));
  EXPECT_TRUE(outcome.confined);
  EXPECT_EQ(outcome.ended.out, "built\n0\n") << outcome.ended.err;

  document.scratch_runs = false;
  const UniqueFd again = rules_for({"/usr"});
  EXPECT_EQ(run_with(document, again.get(), jail({"--tmpfs", "/tmp"})).ended.out, "126\n");
}

TEST_F(Stage2ExecScratch, ADirectoryThatIsNoTmpfsOfItsOwnIsNotAdmitted) {
  const std::string shown = workspace.str();
  const UniqueFd lent = rules_for({"/usr"});
  expect_refusal(run_with(document, lent.get(), jail({"--dir", "/tmp"})), Stage2Step::kExecRules, 0,
                 "/tmp");
  expect_refusal(run_with(document, lent.get(), jail({"--ro-bind", "/usr/share", "/tmp"})),
                 Stage2Step::kExecRules, 0, "/tmp");
  expect_refusal(run_with(document, lent.get(), jail({"--symlink", "/dev/shm", "/tmp"})),
                 Stage2Step::kExecRules, ELOOP, "/tmp");
  expect_refusal(run_with(document, lent.get(), jail({})), Stage2Step::kExecRules, ENOENT, "/tmp");
}

}  // namespace
}  // namespace loom::bwrap
