#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

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

// The real launcher around the real stage 2, with a workspace that holds a masked file and a masked
// directory.
class Stage2Jail : public ::testing::Test {
 protected:
  void SetUp() override {
    const int status = std::system(
        "bwrap --unshare-pid --ro-bind / / --proc /proc /bin/true </dev/null >/dev/null 2>&1");
    if (status != 0) {
      LOOM_SKIP_UNLESS_PROMISED("bubblewrap makes no jail");
    }
    workspace.write(".env", "secret\n");
    ASSERT_EQ(::mkdir((workspace / ".git").c_str(), 0755), 0);
    workspace.write(".git/config", "secret\n");
    parent = identity_of(workspace.str());
    document = plain_document();
    document.jailed = true;
    document.root_read_only = true;
    document.own_tmpfs = {"/", "/dev"};
  }

  [[nodiscard]] std::vector<std::string> base() const {
    return {"--unshare-pid", "--die-with-parent",
            "--ro-bind",     "/usr",
            "/usr",          "--symlink",
            "usr/bin",       "/bin",
            "--symlink",     "usr/lib",
            "/lib",          "--symlink",
            "usr/lib64",     "/lib64",
            "--proc",        "/proc",
            "--dev",         "/dev",
            "--bind",        workspace.str(),
            workspace.str()};
  }
  // The jail as planned: both masks, an absent path hidden on the jail's own root, "/" read-only.
  [[nodiscard]] Start masked() const {
    Start start{.launcher = base(), .in_child = {}};
    for (const std::string& word :
         std::vector<std::string>{"--ro-bind", "/dev/null", workspace / ".env", "--tmpfs",
                                  workspace / ".git", "--remount-ro", workspace / ".git", "--tmpfs",
                                  "/hidden", "--remount-ro", "/hidden", "--remount-ro", "/"}) {
      start.launcher.push_back(word);
    }
    return start;
  }
  [[nodiscard]] Start unmasked() const {
    Start start{.launcher = base(), .in_child = {}};
    start.launcher.insert(start.launcher.end(), {"--remount-ro", "/"});
    return start;
  }
  [[nodiscard]] ViewCheck file_mask() const {
    return {.path = workspace / ".env",
            .form = ViewCheck::Form::kNullDevice,
            .parent_identity = parent};
  }
  [[nodiscard]] ViewCheck directory_mask() const {
    return {.path = workspace / ".git",
            .form = ViewCheck::Form::kEmptyDirectory,
            .parent_identity = parent};
  }
  // No report, 126, and the host is told about the path.
  void expect_view_refusal(const Start& start, const std::string& path) const {
    Stage2Run run(document, start);
    EXPECT_THAT(run.read_report(), IsEmpty());
    const auto message = run.receive();
    ASSERT_TRUE(message);
    EXPECT_EQ(message->kind, ControlKind::kFailed);
    EXPECT_EQ(message->step, Stage2Step::kView);
    EXPECT_THAT(message->detail, HasSubstr(path));
    const Ended ended = run.wait();
    EXPECT_EQ(ended.code, 126);
    EXPECT_THAT(ended.err, HasSubstr(path));
  }

  TemporaryDirectory workspace;
  FileIdentity parent;
  PrepareDocument document;
};

TEST_F(Stage2Jail, RunsTheCommandBehindMasksThatAreInPlace) {
  document.view = {
      file_mask(), directory_mask(), {.path = "/hidden", .form = {}, .parent_identity = {}}};
  Stage2Run run(document, masked());
  const auto report = run.await_ready();
  ASSERT_TRUE(report) << run.wait().err;
  EXPECT_THAT(report->applied, ElementsAre("no-new-privs", "caps=none"));
  run.commit(shell("cat " + workspace / ".env" + "; ls -A " + workspace / ".git" + "; ls -A " +
                   workspace.str() + "; ls /proc/self/fd; echo end"));
  const Ended ended = run.wait();
  EXPECT_EQ(ended.out, ".env\n.git\n0\n1\n2\n3\nend\n") << ended.err;
}

TEST_F(Stage2Jail, LeadsASessionOfItsOwn) {
  Stage2Run run(document, masked());
  ASSERT_TRUE(run.await_ready());
  run.commit(
      shell("cut -d' ' -f1,6 /proc/$$/stat | { read pid sid; test $pid = $sid && echo leads; }"));
  EXPECT_EQ(run.wait().out, "leads\n");
}

// guard 5.2: I6. The launcher's group is then all that finds the processes of the jail.
TEST_F(Stage2Jail, StaysInTheLaunchersSessionWhereTheHostsProcessTableIsShared) {
  const long abi = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, 1U);
  if (abi < 1) {
    LOOM_SKIP_UNLESS_PROMISED("no Landlock");
  }
  document.shares_pids = true;
  document.landlock_abi = static_cast<std::uint32_t>(abi);
  document.landlock_handled_fs = (1U << 13U) - 1;  // all of ABI 1
  document.landlock_rules = {{.path = "/", .access = 0x0d, .required = true}};
  Stage2Run run(document, masked());
  ASSERT_TRUE(run.await_ready()) << run.wait().err;
  run.commit(
      shell("cut -d' ' -f1,6 /proc/$$/stat | { read pid sid; test $pid = $sid || echo follows; }"));
  EXPECT_EQ(run.wait().out, "follows\n");
}

// Where dumps go is the whole machine's, so the jail is shown another answer.
TEST_F(Stage2Jail, ADumpThatNoLimitKeepsFromItsReceiverIsNamed) {
  const auto entries_with = [this](const std::string& pattern, rlim_t hard) {
    workspace.write("pattern", pattern + "\n");
    Start start{.launcher = base(), .in_child = [hard] {
                  const rlimit limit{.rlim_cur = 0, .rlim_max = hard};
                  ::setrlimit(RLIMIT_CORE, &limit);
                }};
    start.launcher.insert(
        start.launcher.end(),
        {"--ro-bind", workspace / "pattern", "/proc/sys/kernel/core_pattern", "--remount-ro", "/"});
    Stage2Run run(document, start);
    const auto report = run.await_ready();
    EXPECT_TRUE(report);
    static_cast<void>(run.wait());
    return report ? report->applied : std::vector<std::string>{};
  };
  const auto unheld = Contains(StartsWith("unheld:no-core="));
  EXPECT_THAT(entries_with("core", RLIM_INFINITY), Not(unheld));
  EXPECT_THAT(entries_with("core", 0), Not(unheld));
  EXPECT_THAT(entries_with("|/usr/lib/handler %P", RLIM_INFINITY), Not(unheld));
  EXPECT_THAT(entries_with("|/usr/lib/handler %P", 0), unheld);
  EXPECT_THAT(entries_with("@/run/socket", RLIM_INFINITY), unheld);
}

TEST_F(Stage2Jail, APlannedMaskThatIsNotThereEndsWith126AndNoReport) {
  document.view = {file_mask()};
  expect_view_refusal(unmasked(), workspace / ".env");
  document.view = {directory_mask()};
  expect_view_refusal(unmasked(), workspace / ".git");
  document.view.clear();
  Stage2Run run(document, unmasked());
  EXPECT_TRUE(run.await_ready());
}

TEST_F(Stage2Jail, AMaskOfTheOtherFormIsNotInPlace) {
  ViewCheck check = file_mask();
  check.form = ViewCheck::Form::kEmptyDirectory;
  document.view = {check};
  expect_view_refusal(masked(), workspace / ".env");
}

// guard 5.4.7; 9.7: 145
TEST_F(Stage2Jail, AClosedMaskIsClosedAndCannotBeOpenedAgain) {
  ViewCheck check = directory_mask();
  check.form = ViewCheck::Form::kClosedDirectory;
  document.view = {check};
  expect_view_refusal(masked(), workspace / ".git");
  Start start{.launcher = base(), .in_child = {}};
  start.launcher.insert(start.launcher.end(),
                        {"--perms", "0000", "--tmpfs", workspace / ".git", "--remount-ro",
                         workspace / ".git", "--remount-ro", "/"});
  Stage2Run run(document, start);
  ASSERT_TRUE(run.await_ready()) << run.wait().err;
  run.commit(shell("stat -c %a " + workspace / ".git" + "; chmod 700 " + workspace / ".git" +
                   " 2>&1 | grep -o 'Read-only.*'; ls -A " + workspace / ".git" + " 2>/dev/null"));
  EXPECT_EQ(run.wait().out, "0\nRead-only file system\n");
  // What is empty and closed is empty.
  document.view = {directory_mask()};
  Stage2Run open(document, start);
  EXPECT_TRUE(open.await_ready());
}

// A root of the policy inside a protected directory is masked with it.
TEST_F(Stage2Jail, ARuleBehindAClosedMaskIsPassedOverAndOpensNothing) {
  const long abi = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, 1U);
  if (abi < 1) {
    LOOM_SKIP_UNLESS_PROMISED("no Landlock");
  }
  document.landlock_abi = static_cast<std::uint32_t>(abi);
  document.landlock_handled_fs = (1U << 13U) - 1;
  document.landlock_rules = {
      {.path = "/", .access = 0x0d, .required = true},
      {.path = workspace / ".git/out", .access = (1U << 13U) - 1, .required = false}};
  Start start{.launcher = base(), .in_child = {}};
  start.launcher.insert(start.launcher.end(),
                        {"--perms", "0000", "--tmpfs", workspace / ".git", "--remount-ro",
                         workspace / ".git", "--remount-ro", "/"});
  Stage2Run run(document, start);
  ASSERT_TRUE(run.await_ready()) << run.wait().err;
  run.commit(shell("test -r " + workspace / ".env" + " && echo read; (echo x >" +
                   workspace / ".env" + ") 2>/dev/null || echo refused"));
  EXPECT_EQ(run.wait().out, "read\nrefused\n");
  document.landlock_rules.back().required = true;
  Stage2Run strict(document, start);
  EXPECT_FALSE(strict.await_ready());
}

TEST_F(Stage2Jail, AnotherDeviceIsNoMask) {
  Start start{.launcher = base(), .in_child = {}};
  for (const std::string& word : std::vector<std::string>{
           "--ro-bind", "/dev/zero", workspace / ".env", "--remount-ro", "/"}) {
    start.launcher.push_back(word);
  }
  document.view = {file_mask()};
  expect_view_refusal(start, workspace / ".env");
}

TEST_F(Stage2Jail, AMaskThatCouldBeWrittenIsNotInPlace) {
  Start start = unmasked();
  start.launcher.insert(start.launcher.end(), {"--tmpfs", workspace / ".git"});
  document.view = {directory_mask()};
  expect_view_refusal(start, workspace / ".git");
}

TEST_F(Stage2Jail, AReadOnlyDirectoryOfATmpfsIsNoMask) {
  Start start{.launcher = base(), .in_child = {}};
  for (const char* word : {"--tmpfs", "/host", "--dir", "/host/secret", "--remount-ro", "/host",
                           "--remount-ro", "/"}) {
    start.launcher.emplace_back(word);
  }
  document.view = {{.path = "/host/secret", .form = {}, .parent_identity = {}}};
  expect_view_refusal(start, "/host/secret");
  document.view = {{.path = "/host", .form = {}, .parent_identity = {}}};
  Stage2Run run(document, start);
  EXPECT_TRUE(run.await_ready());
}

TEST_F(Stage2Jail, AnExchangedParentIsNoticed) {
  document.view = {file_mask()};
  document.view.front().parent_identity.inode += 1;
  expect_view_refusal(masked(), workspace / ".env");
  document.view.front().parent_identity = {};
  expect_view_refusal(masked(), workspace / ".env");
}

TEST_F(Stage2Jail, AParentBehindALinkIsRefused) {
  ASSERT_EQ(::symlink(workspace.str().c_str(), (workspace / "link").c_str()), 0);
  ViewCheck check = file_mask();
  check.path = workspace / "link" + "/.env";
  document.view = {check};
  expect_view_refusal(masked(), check.path);
}

// A directory of the workspace that the launcher binds onto itself, with `option`.
class Stage2Pins : public Stage2Jail {
 protected:
  void SetUp() override {
    Stage2Jail::SetUp();
    ASSERT_EQ(::mkdir((workspace / "pinned").c_str(), 0755), 0);
    ASSERT_EQ(::mkdir((workspace / "other").c_str(), 0755), 0);
  }
  [[nodiscard]] Start bound(const std::string& option, const std::string& source) const {
    Start start{.launcher = base(), .in_child = {}};
    start.launcher.insert(start.launcher.end(),
                          {option, workspace / source, workspace / "pinned", "--remount-ro", "/"});
    return start;
  }
  [[nodiscard]] ViewCheck check(ViewCheck::Form form) const {
    return {.path = workspace / "pinned",
            .form = form,
            .parent_identity = parent,
            .identity = identity_of(workspace / "pinned")};
  }
  void expect_in_place(const Start& start) const {
    Stage2Run run(document, start);
    EXPECT_TRUE(run.await_ready()) << run.wait().err;
  }
};

TEST_F(Stage2Pins, ADirectoryThatIsBoundOntoItselfIsPinnedAndAPlainOneIsNot) {
  document.view = {check(ViewCheck::Form::kPin)};
  expect_in_place(bound("--bind", "pinned"));
  expect_view_refusal(unmasked(), workspace / "pinned");
}

TEST_F(Stage2Pins, AnotherDirectoryAtItsNameIsNoPin) {
  document.view = {check(ViewCheck::Form::kPin)};
  expect_view_refusal(bound("--bind", "other"), workspace / "pinned");
  document.view.front().identity = identity_of(workspace / "other");
  expect_in_place(bound("--bind", "other"));
  expect_view_refusal(bound("--bind", "pinned"), workspace / "pinned");
}

TEST_F(Stage2Pins, APinInADirectoryThatWasExchangedIsNoticed) {
  document.view = {check(ViewCheck::Form::kPin)};
  document.view.front().parent_identity.inode += 1;
  expect_view_refusal(bound("--bind", "pinned"), workspace / "pinned");
}

TEST_F(Stage2Pins, AMaskBelowAPinIsFoundThroughIt) {
  workspace.write("pinned/key", "secret\n");
  document.view = {check(ViewCheck::Form::kPin),
                   {.path = workspace / "pinned/key",
                    .form = ViewCheck::Form::kNullDevice,
                    .parent_identity = identity_of(workspace / "pinned")}};
  Start start = bound("--bind", "pinned");
  expect_view_refusal(start, workspace / "pinned/key");
  start.launcher.insert(start.launcher.end() - 2,
                        {"--ro-bind", "/dev/null", workspace / "pinned/key"});
  expect_in_place(start);
}

TEST_F(Stage2Pins, WhatMustBeReadOnlyMayNotBeBoundWritable) {
  document.view = {check(ViewCheck::Form::kReadOnlyBind)};
  expect_in_place(bound("--ro-bind", "pinned"));
  expect_view_refusal(bound("--bind", "pinned"), workspace / "pinned");
  expect_view_refusal(bound("--ro-bind", "other"), workspace / "pinned");
  expect_view_refusal(unmasked(), workspace / "pinned");
}

TEST_F(Stage2Pins, OnAKernelThatKnowsNoMountRootsTheIdentityHasToDo) {
  document.view = {check(ViewCheck::Form::kPin)};
  Start start = unmasked();
  start.in_child = [without_statx = withhold({SYS_statx})] {
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
      without_statx();  // an ordinary user needs it
  };
  expect_in_place(start);
  document.view.front().identity.inode += 1;
  expect_view_refusal(start, workspace / "pinned");
}

TEST_F(Stage2Jail, FindsTheMasksOnAKernelWithoutOpenat2) {
  ASSERT_EQ(::symlink(workspace.str().c_str(), (workspace / "link").c_str()), 0);
  Start start = masked();
  start.in_child = forget_new_calls;
  document.view = {file_mask(), directory_mask()};
  {
    Stage2Run run(document, start);
    ASSERT_TRUE(run.await_ready()) << run.wait().err;
  }
  document.view.front().path = workspace / "link" + "/.env";
  expect_view_refusal(start, document.view.front().path);
}

TEST_F(Stage2Jail, AWritableRootIsRefused) {
  expect_view_refusal({.launcher = base(), .in_child = {}}, "/");
}

}  // namespace
}  // namespace loom::bwrap
