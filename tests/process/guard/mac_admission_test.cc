// Admission by the rules of macOS, over a tree of this machine that stands for one.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "guard/admission.h"
#include "guard/forwarding.h"
#include "guard_support.h"
#include "mac_images.h"
#include "policy/exec_layers.h"
#include "tests/support/promised.h"

namespace loom::guard {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// The tree's root is the machine's; everything in it came with the system but /w.
class MacAdmissionTest : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) LOOM_SKIP_UNLESS_PROMISED("the tree is not the system's to this user");
  }

  MacAdmissionTest() {
    for (const char* const name :
         {"/bin", "/usr/bin", "/private/tmp", "/private/var/select", "/private/var/db",
          "/Library/Developer/CommandLineTools/usr/bin", "/x"}) {
      tree_.directory(name);
    }
    program("/bin/sh");
    program("/bin/bash");
    tree_.link(tree_.at("/bin/bash"), "/private/var/select/sh");
    tree_.link("private/tmp", "/tmp");
    ForwardingPrograms& forwarding = *rules_.forwarding;
    for (std::string* const name : {&forwarding.shell, &forwarding.shell_choice, &forwarding.stubs,
                                    &forwarding.developer_choice, &forwarding.developer_default}) {
      *name = tree_.at(*name);
    }
    for (const char* const root : {"/bin", "/usr", "/Library", "/private/var", "/x"}) {
      floor_.push_back(path(tree_.at(root)));
    }
  }

  void program(std::string_view name) const { tree_.file(name, mac_program(), 0755); }
  void script(std::string_view name, const std::string& interpreter) const {
    tree_.file(name, "#!" + interpreter + "\n", 0755);
  }
  void allow_file(std::string_view name) {
    table_.allow.push_back({.kind = ExecEntryKind::kFile, .value = tree_.at(name)});
  }
  void allow_dir(std::string_view name) {
    table_.allow.push_back({.kind = ExecEntryKind::kDirectory, .value = tree_.at(name)});
  }
  void deny(ExecEntryKind kind, std::string_view name) {
    table_.deny.push_back({.kind = kind, .value = tree_.at(name)});
  }
  void writable(std::string_view name) {
    view_.push_back({.mount_class = MountClass::kWritable,
                     .form = MountForm::kRule,
                     .region = path(tree_.at(name)),
                     .written = path(tree_.at(name)),
                     .identity = tree_.identity(name)});
  }

  [[nodiscard]] Judged<Admitted> admit(std::string_view name) const {
    Policy policy;
    policy.version = 3;
    policy.exec = table_;
    const Snapshot taken = Snapshot::take(policy, exec_in_force(policy, nullptr), {});
    const Guard guard(taken, {.view = &view_, .floor = floor_, .programs = rules_});
    LinkerNames linkers;
    const auto alone = judge_program(guard, tree_.at(name), "", linkers);
    auto admission = guard::admit(guard, tree_.at(name), "", linkers);
    EXPECT_EQ(alone.has_value(), admission.has_value());
    return admission;
  }
  [[nodiscard]] std::string outcome(std::string_view name) const {
    const auto admission = admit(name);
    return admission ? "admitted" : admission.error().reason;
  }
  // Names of the tree.
  [[nodiscard]] std::vector<std::string> support(std::string_view name) const {
    const auto admission = admit(name);
    if (!admission) return {"refused: " + admission.error().text};
    std::vector<std::string> files;
    for (const AbsolutePath& file : admission->kernel_table().support()) {
      files.push_back(file.str().substr(tree_.at("").size()));
    }
    return files;
  }

  Tree tree_;
  ProgramRules rules_ = program_rules("darwin", "arm64");
  ExecPolicy table_;
  std::vector<AbsolutePath> floor_;
  std::vector<MountOperation> view_ = {{.mount_class = MountClass::kReadable,
                                        .form = MountForm::kRule,
                                        .region = path("/"),
                                        .written = path("/")}};
};

// guard 9.8: 156
TEST_F(MacAdmissionTest, AnExcludedFileOfAnAllowedDirectoryIsRefused) {
  program("/x/a");
  program("/x/b");
  allow_dir("/x");
  deny(ExecEntryKind::kFile, "/x/b");

  EXPECT_EQ(outcome("/x/b"), "excluded_over_allowance");
  EXPECT_EQ(outcome("/x/a"), "admitted");
  EXPECT_THAT(support("/x/a"), IsEmpty()) << "no linker is a program here";
}

// guard 9.8: 157
TEST_F(MacAdmissionTest, AnAllowedFileInsideAnExcludedDirectoryIsRefused) {
  tree_.directory("/x/y");
  program("/x/y/t");
  program("/x/t");
  allow_dir("/x");
  deny(ExecEntryKind::kDirectory, "/x/y");
  allow_file("/x/y/t");

  EXPECT_EQ(outcome("/x/y/t"), "excluded_over_allowance");
  EXPECT_EQ(outcome("/x/t"), "admitted");
}

// guard 9.8: 161
TEST_F(MacAdmissionTest, WhatIsExcludedInTmpDoesNotRunUnderEitherName) {
  tree_.directory("/private/tmp/x");
  tree_.directory("/private/tmp/y");
  program("/private/tmp/x/t");
  program("/private/tmp/y/t");
  table_.allow_by_default = true;
  deny(ExecEntryKind::kDirectory, "/tmp/x");

  EXPECT_EQ(outcome("/private/tmp/x/t"), "excluded_over_allowance");
  EXPECT_EQ(outcome("/tmp/x/t"), "excluded_over_allowance");
  EXPECT_EQ(outcome("/tmp/y/t"), "admitted");
}

// --- scripts, and what forwards
// -------------------------------------------------------------------

// guard 9.8: 162
TEST_F(MacAdmissionTest, AScriptOfTheSystemBringsTheShellAndWhatTheShellForwardsTo) {
  script("/x/s", tree_.at("/bin/sh"));
  allow_file("/x/s");

  EXPECT_THAT(support("/x/s"), UnorderedElementsAre("/bin/sh", "/bin/bash"));
}

TEST_F(MacAdmissionTest, AnAllowedShellBringsWhatItForwardsTo) {
  allow_file("/bin/sh");

  EXPECT_THAT(support("/bin/sh"), ElementsAre("/bin/bash"));
}

TEST_F(MacAdmissionTest, WhereTheShellThatWasChosenIsExcludedTheShellIsRefused) {
  allow_dir("/bin");
  EXPECT_EQ(outcome("/bin/sh"), "admitted");
  deny(ExecEntryKind::kFile, "/bin/bash");

  const auto refused = admit("/bin/sh");

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, "support_excluded");
  ASSERT_TRUE(refused.error().needed_by);
  EXPECT_EQ(refused.error().needed_by->program, tree_.at("/bin/sh"));
  EXPECT_EQ(refused.error().needed_by->file, tree_.at("/private/var/select/sh"));
}

TEST_F(MacAdmissionTest, WithoutSystemSupportWhatItForwardsToNeedsAnEntry) {
  table_.system_support = false;
  allow_file("/bin/sh");
  EXPECT_EQ(outcome("/bin/sh"), "interpreter_not_admitted");

  allow_file("/bin/bash");
  EXPECT_EQ(outcome("/bin/sh"), "admitted");
}

// What the command writes forwards nowhere that anybody knows of.
TEST_F(MacAdmissionTest, AShellThatTheCommandCanWriteForwardsNothing) {
  allow_file("/bin/sh");
  ASSERT_THAT(support("/bin/sh"), ElementsAre("/bin/bash"));
  writable("/bin");

  EXPECT_THAT(support("/bin/sh"), IsEmpty());
}

TEST_F(MacAdmissionTest, AChoiceThatTheCommandCanReplaceBringsNothing) {
  allow_file("/bin/sh");
  writable("/private/var/select");

  EXPECT_EQ(outcome("/bin/sh"), "interpreter_not_admitted");
}

TEST_F(MacAdmissionTest, WithoutAChoiceTheShellStartsByItself) {
  std::filesystem::remove(tree_.at("/private/var/select/sh"));
  allow_file("/bin/sh");

  EXPECT_THAT(support("/bin/sh"), IsEmpty());
}

TEST_F(MacAdmissionTest, AStubBringsTheToolOfItsName) {
  program("/usr/bin/git");
  program("/Library/Developer/CommandLineTools/usr/bin/git");
  program("/Library/Developer/CommandLineTools/usr/bin/other");
  allow_file("/usr/bin/git");

  EXPECT_THAT(support("/usr/bin/git"),
              ElementsAre("/Library/Developer/CommandLineTools/usr/bin/git"));
}

TEST_F(MacAdmissionTest, TheChosenDeveloperDirectoryComesBeforeTheDefault) {
  program("/usr/bin/cc");
  program("/Library/Developer/CommandLineTools/usr/bin/cc");
  tree_.directory("/Library/Xcode/usr/bin");
  tree_.directory("/Library/Xcode/Toolchains/XcodeDefault.xctoolchain/usr/bin");
  program("/Library/Xcode/usr/bin/cc");
  program("/Library/Xcode/Toolchains/XcodeDefault.xctoolchain/usr/bin/cc");
  tree_.link(tree_.at("/Library/Xcode"), "/private/var/db/xcode_select_link");
  allow_file("/usr/bin/cc");
  ASSERT_EQ(::setenv("DEVELOPER_DIR", tree_.at("/w").c_str(), 1), 0);

  EXPECT_THAT(support("/usr/bin/cc"),
              ElementsAre("/Library/Xcode/usr/bin/cc",
                          "/Library/Xcode/Toolchains/XcodeDefault.xctoolchain/usr/bin/cc"));
  ::unsetenv("DEVELOPER_DIR");
}

TEST_F(MacAdmissionTest, AToolThatIsAScriptBringsItsInterpreter) {
  program("/usr/bin/tool");
  script("/Library/Developer/CommandLineTools/usr/bin/tool", tree_.at("/bin/bash"));
  allow_file("/usr/bin/tool");

  EXPECT_THAT(support("/usr/bin/tool"),
              ElementsAre("/Library/Developer/CommandLineTools/usr/bin/tool", "/bin/bash"));
}

TEST_F(MacAdmissionTest, TheShellOfAToolForwardsToo) {
  program("/usr/bin/tool");
  script("/Library/Developer/CommandLineTools/usr/bin/tool", tree_.at("/bin/sh"));
  allow_file("/usr/bin/tool");

  EXPECT_THAT(
      support("/usr/bin/tool"),
      ElementsAre("/Library/Developer/CommandLineTools/usr/bin/tool", "/bin/sh", "/bin/bash"));
}

TEST_F(MacAdmissionTest, AShellThatForwardsToItselfEnds) {
  script("/usr/bin/loop", tree_.at("/bin/sh"));
  std::filesystem::remove(tree_.at("/private/var/select/sh"));
  tree_.link(tree_.at("/usr/bin/loop"), "/private/var/select/sh");
  allow_file("/bin/sh");

  EXPECT_EQ(outcome("/bin/sh"), "admitted");
}

TEST_F(MacAdmissionTest, AProgramWithoutAToolOrElsewhereIsNoStub) {
  program("/usr/bin/vim");
  program("/x/git");
  program("/Library/Developer/CommandLineTools/usr/bin/git");
  allow_file("/usr/bin/vim");
  allow_file("/x/git");

  EXPECT_THAT(support("/usr/bin/vim"), IsEmpty());
  EXPECT_THAT(support("/x/git"), IsEmpty());
}

TEST_F(MacAdmissionTest, AScriptOfTheCommandsBringsNoShell) {
  script("/w/s", tree_.at("/bin/sh"));
  allow_file("/w/s");
  writable("/w");
  EXPECT_EQ(outcome("/w/s"), "interpreter_not_admitted");

  allow_file("/bin/sh");
  EXPECT_THAT(support("/w/s"), ElementsAre("/bin/bash")) << "the shell is the system's";
}

// The kernel takes a script for no interpreter.
TEST_F(MacAdmissionTest, OneScriptMayStandInFrontOfABinary) {
  script("/x/1", tree_.at("/bin/bash"));
  script("/x/2", tree_.at("/x/1"));
  allow_dir("/x");

  EXPECT_EQ(outcome("/x/1"), "admitted");
  const auto second = admit("/x/2");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().reason, "too_many_interpreters");
  EXPECT_THAT(second.error().text, HasSubstr("than the 1 that"));
}

}  // namespace
}  // namespace loom::guard
