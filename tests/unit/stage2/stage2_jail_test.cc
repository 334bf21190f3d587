#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "stage2_run.h"

namespace loom::bwrap {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The real launcher around the real stage 2, with a workspace that holds a masked file and a masked
// directory.
class Stage2Jail : public ::testing::Test {
 protected:
  void SetUp() override {
    const int status = std::system(
        "bwrap --unshare-pid --ro-bind / / --proc /proc /bin/true </dev/null >/dev/null 2>&1");
    if (status != 0) {
      ASSERT_EQ(::getenv("LOOM_JAIL_MUST_WORK"), nullptr) << "bubblewrap makes no jail";
      GTEST_SKIP() << "bubblewrap makes no jail";
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
