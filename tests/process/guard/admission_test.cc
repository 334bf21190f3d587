#include "guard/admission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string>
#include <vector>

#include "guard/reopen.h"
#include "guard/support.h"
#include "guard_support.h"
#include "policy/exec_layers.h"
#include "program_images.h"
#include "tests/support/promised.h"

namespace loom::guard {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

std::string outcome(const Judged<Admitted>& admission) {
  return admission ? "admitted" : admission.error().reason;
}

// The real path of what runs; the refusal where nothing does.
std::string runs(const Judged<Admitted>& admission) {
  return admission ? admission->program().real.str() : admission.error().text;
}

std::vector<std::string> support_of(const Judged<Admitted>& admission) {
  std::vector<std::string> files;
  if (!admission) return {"refused: " + admission.error().text};
  for (const AbsolutePath& file : admission->kernel_table().support()) files.push_back(file.str());
  return files;
}

// A table that refuses what it does not name, a view that shows the whole host for reading, and
// what a test adds. Paths are those of the tree.
class AdmissionTest : public testing::Test {
 protected:
  void program(std::string_view name, mode_t mode = 0755) const {
    tree_.file(name, static_program(), mode);
  }
  void script(std::string_view name, const std::string& interpreter) const {
    tree_.file(name, "#!" + interpreter + "\n", 0755);
  }

  void allow(ExecEntryKind kind, std::string_view value) {
    table_.allow.push_back({.kind = kind, .value = value_of(kind, value)});
  }
  void deny(ExecEntryKind kind, std::string_view value) {
    table_.deny.push_back({.kind = kind, .value = value_of(kind, value)});
  }
  void writable(std::string_view name) {
    view_.push_back(
        operation(MountClass::kWritable, MountForm::kBind, tree_.at(name), tree_.identity(name)));
  }
  void protect(std::string_view name) {
    policy_.protected_paths.push_back(path(tree_.at(name)));
    view_.push_back(operation(MountClass::kProtected, MountForm::kNullDevice, tree_.at(name), {}));
  }
  // The tree counts as part of the system.
  void tree_is_a_system_root() { floor_.push_back(path(tree_.at(""))); }

  [[nodiscard]] Snapshot snapshot() {
    policy_.version = 3;
    policy_.exec = restricts_ ? std::optional(table_) : std::nullopt;
    return Snapshot::take(policy_, exec_in_force(policy_, nullptr), search_);
  }
  [[nodiscard]] Judged<Admitted> admit(std::string_view argv0, std::string_view cwd = "") {
    const Snapshot taken = snapshot();
    const Guard guard(taken, {.view = &view_, .floor = floor_});
    auto admission = guard::admit(guard, argv0, cwd, linkers_);
    expect_the_same_verdict_alone(guard, argv0, cwd, admission);
    return admission;
  }
  // Of everything that these tests admit or refuse.
  void expect_the_same_verdict_alone(const Guard& guard, std::string_view argv0,
                                     std::string_view cwd, const Judged<Admitted>& admission) {
    verdict_linkers_ = LinkerNames(system_);
    const auto alone = judge_program(guard, argv0, cwd, verdict_linkers_);
    ASSERT_EQ(alone.has_value(), admission.has_value()) << argv0;
    if (!alone) {
      EXPECT_EQ(alone.error(), admission.error());
      return;
    }
    EXPECT_EQ(alone->real, admission->program().real);
    EXPECT_EQ(alone->notes, admission->notes());
  }
  // The system's linkers are those below the tree's /sys.
  void tree_has_the_systems_linkers() {
    system_ = tree_.at("/sys");
    linkers_ = LinkerNames(system_);
  }
  [[nodiscard]] Judged<Admitted> admit_at(std::string_view name) { return admit(tree_.at(name)); }

  static MountOperation operation(MountClass mount_class, MountForm form, const std::string& at,
                                  FileIdentity identity) {
    return {.mount_class = mount_class,
            .form = form,
            .region = path(at),
            .written = path(at),
            .identity = identity};
  }
  [[nodiscard]] std::string value_of(ExecEntryKind kind, std::string_view value) const {
    return kind == ExecEntryKind::kName ? std::string(value) : tree_.at(value);
  }
  static std::vector<MountOperation> whole_host() {
    struct stat about {};
    EXPECT_EQ(::stat("/", &about), 0);
    return {operation(MountClass::kReadable, MountForm::kReadOnlyBind, "/",
                      {.device = about.st_dev, .inode = about.st_ino})};
  }

  static constexpr ExecEntryKind kDir = ExecEntryKind::kDirectory;
  static constexpr ExecEntryKind kFile = ExecEntryKind::kFile;
  static constexpr ExecEntryKind kName = ExecEntryKind::kName;

  Tree tree_;
  Policy policy_;
  ExecPolicy table_;
  bool restricts_ = true;  // false: the policy has no opinion
  SearchPath search_;
  std::vector<MountOperation> view_ = whole_host();
  std::vector<AbsolutePath> floor_ = {path("/usr"), path("/bin"), path("/lib"), path("/lib64")};
  std::string system_;
  LinkerNames linkers_;
  LinkerNames verdict_linkers_;  // of the last verdict alone
};

// --- locating
// --------------------------------------------------------------------------------------

// guard 9.5: 78
TEST_F(AdmissionTest, AProgramInAnAllowedDirectoryIsAdmitted) {
  tree_.directory("/x/bin");
  program("/x/bin/t");
  program("/o/t");
  allow(kDir, "/x/bin");

  const auto admission = admit_at("/x/bin/t");

  ASSERT_TRUE(admission) << admission.error().text;
  EXPECT_EQ(admission->program().real, path(tree_.at("/x/bin/t")));
  EXPECT_EQ(admission->program().identity, tree_.identity("/x/bin/t"));
  EXPECT_THAT(admission->notes(), IsEmpty());
  EXPECT_EQ(outcome(admit_at("/o/t")), "not_allowed");
}

// guard 9.5: 79
TEST_F(AdmissionTest, ALinkToAnAllowedFileRunsTheFile) {
  tree_.directory("/x/bin");
  tree_.directory("/y");
  program("/x/bin/t");
  tree_.link(tree_.at("/x/bin/t"), "/y/l");
  allow(kFile, "/x/bin/t");

  EXPECT_EQ(runs(admit_at("/y/l")), tree_.at("/x/bin/t"));
}

// guard 9.5: 80
TEST_F(AdmissionTest, ALinkInAnAllowedDirectoryGrantsNothingOutsideIt) {
  tree_.directory("/x/bin");
  tree_.directory("/y");
  program("/y/t");
  program("/x/bin/t");
  tree_.link(tree_.at("/y/t"), "/x/bin/l");
  allow(kDir, "/x/bin");

  const auto admission = admit_at("/x/bin/l");

  EXPECT_EQ(outcome(admission), "not_allowed");
  EXPECT_EQ(admission.error().asked, tree_.at("/x/bin/l"));
  EXPECT_EQ(admission.error().real, tree_.at("/y/t"));
  EXPECT_EQ(admission.error().evidence, "none");
  EXPECT_EQ(outcome(admit_at("/x/bin/t")), "admitted");
}

// guard 9.5: 81
TEST_F(AdmissionTest, ARelativeNameIsWalkedFromTheDirectoryAndNotCleanedAsText) {
  tree_.directory("/x/real/sub");
  program("/x/real/t");
  tree_.link("real/sub", "/x/l");
  allow(kDir, "/x/real");

  EXPECT_EQ(runs(admit("l/../t", tree_.at("/x"))), tree_.at("/x/real/t"));
}

TEST_F(AdmissionTest, WithoutADirectoryARelativeNameIsTheRoots) {
  program("/x");
  allow(kFile, "/x");

  EXPECT_EQ(runs(admit(tree_.at("/x").substr(1))), tree_.at("/x"));
}

// guard 9.5: 82
TEST_F(AdmissionTest, AFileWithATrailingSlashIsNotFound) {
  program("/x");
  allow(kFile, "/x");

  const auto admission = admit_at("/x/");

  EXPECT_EQ(outcome(admission), "not_found");
  EXPECT_EQ(admission.error().evidence, std::nullopt);
  EXPECT_THAT(admission.error().text, StartsWith("not_found: "));
  EXPECT_EQ(outcome(admit_at("/x")), "admitted");
}

TEST_F(AdmissionTest, WhatIsNotThereIsNotFoundUnderEveryPolicy) {
  tree_.link("nowhere", "/dangling");
  for (const bool restricts : {true, false}) {
    restricts_ = restricts;
    for (const char* const name : {"/no", "/no/t", "/dangling"}) {
      EXPECT_EQ(outcome(admit_at(name)), "not_found") << name;
    }
    for (const char* const name : {"no-such-program", "", ".", ".."}) {
      EXPECT_EQ(outcome(admit(name)), "not_found") << name;
    }
  }
}

// guard 9.5: 83
TEST_F(AdmissionTest, WhatNobodyMayExecuteIsNotExecutableUnderEveryPolicy) {
  program("/t", 0644);
  allow(kFile, "/t");
  for (const bool restricts : {true, false}) {
    restricts_ = restricts;
    const auto admission = admit_at("/t");
    EXPECT_EQ(outcome(admission), "not_executable");
    EXPECT_EQ(admission.error().error, EACCES);
    EXPECT_EQ(admission.error().real, tree_.at("/t"));
    EXPECT_THAT(admission.error().text,
                AllOf(StartsWith("not_executable: "), HasSubstr(tree_.at("/t"))));
  }
}

TEST_F(AdmissionTest, NotExecutableIsSaidBeforeTheTableIsAsked) {
  program("/t", 0644);

  EXPECT_EQ(outcome(admit_at("/t")), "not_executable");
  ASSERT_EQ(::chmod(tree_.at("/t").c_str(), 0755), 0);
  EXPECT_EQ(outcome(admit_at("/t")), "not_allowed");
}

TEST_F(AdmissionTest, DirectoriesSocketsAndPipesAreNotExecutable) {
  allow(kDir, "");
  tree_.fifo("/fifo");
  tree_.socket("/socket");
  for (const char* const name : {"/o", "/o/", "/fifo", "/socket"}) {
    EXPECT_EQ(outcome(admit_at(name)), "not_executable") << name;
  }
}

TEST_F(AdmissionTest, ItIsTheEffectiveUserWhoMustBeAbleToExecute) {
  if (::geteuid() != 0) GTEST_SKIP() << "only the superuser can become another user";
  program("/t", 0744);
  allow(kFile, "/t");

  EXPECT_EQ(outcome(admit_at("/t")), "admitted");
  const OrdinaryUser nobody;
  EXPECT_EQ(outcome(admit_at("/t")), "not_executable");
}

TEST_F(AdmissionTest, NothingRunsOnAFileSystemThatIsMountedNoexec) {
  if (::geteuid() != 0) GTEST_SKIP() << "it takes the superuser to mount";
  allow(kDir, "");
  const auto outcome_under = [&](unsigned long flags) {
    const bool mounted = ::mount("none", tree_.at("/o").c_str(), "tmpfs", flags, nullptr) == 0;
    program("/o/t");
    const auto admission = admit_at("/o/t");
    const bool says_why = admission || admission.error().text.find("noexec") != std::string::npos;
    return mounted && says_why ? outcome(admission) : "no mount";
  };
  const pid_t child = ::fork();
  if (child == 0) {
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
      ::_exit(2);
    }
    const bool right = outcome_under(0) == "admitted" &&
                       outcome_under(MS_NOEXEC) == "not_executable" &&
                       outcome_under(0) == "admitted";
    ::_exit(right ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 2) {
    LOOM_SKIP_UNLESS_PROMISED("this machine mounts nothing");
  }
  EXPECT_EQ(status, 0);
}

TEST_F(AdmissionTest, AWalkThatFailsKeepsItsOwnReason) {
  tree_.link("loop", "/loop");
  allow(kDir, "");

  const auto admission = admit_at("/loop/t");

  EXPECT_EQ(outcome(admission), "too_many_links");
  EXPECT_EQ(admission.error().op, "execute");
  EXPECT_EQ(outcome(admit("/proc/self/exe")), "magic_link");
}

// --- the search path
// -------------------------------------------------------------------------------

class SearchTest : public AdmissionTest {
 protected:
  void search(const std::vector<std::string>& names, const std::vector<std::string>& own) {
    for (const std::string& name : names) search_.all.push_back(path(tree_.at(name)));
    for (const std::string& name : own) search_.own.push_back(path(tree_.at(name)));
  }
};

// guard 9.5: 84
TEST_F(SearchTest, AHitThatCannotBeExecutedDoesNotEndTheSearch) {
  tree_.directory("/e");
  tree_.directory("/x");
  program("/e/g", 0644);
  program("/x/g");
  search({"/e", "/x"}, {"/e", "/x"});
  allow(kName, "g");

  EXPECT_EQ(runs(admit("g")), tree_.at("/x/g"));
}

TEST_F(SearchTest, AHitThatCannotBeExecutedIsNamedWhereNothingElseIsFound) {
  tree_.directory("/e");
  program("/e/g", 0644);
  search({"/o", "/e"}, {});

  const auto admission = admit("g");

  EXPECT_EQ(outcome(admission), "not_executable");
  EXPECT_THAT(admission.error().text, HasSubstr(tree_.at("/e/g")));
}

// guard 9.5: 85
// guard 9.7: 135
TEST_F(SearchTest, ADirectoryThatTheCommandCanWriteIsNotSearched) {
  tree_.directory("/w/bin");
  tree_.directory("/x");
  program("/w/bin/g");
  program("/x/g");
  search({"/w/bin", "/x"}, {"/x"});
  allow(kName, "g");

  EXPECT_EQ(outcome(admit("g")), "not_allowed") << "control: /w/bin is searched, and is not /x";
  writable("/w");
  EXPECT_EQ(runs(admit("g")), tree_.at("/x/g"));
}

TEST_F(SearchTest, NorIsOneThatALinkLeadsThere) {
  tree_.directory("/w/bin");
  tree_.directory("/x");
  program("/w/bin/g");
  program("/x/g");
  tree_.link(tree_.at("/w/bin"), "/l");
  search({"/l", "/x"}, {"/x"});
  allow(kName, "g");
  writable("/w");

  EXPECT_EQ(runs(admit("g")), tree_.at("/x/g"));
}

// guard 9.5: 86
TEST_F(SearchTest, ABareNamesAllowanceGrantsNoOtherFileOfThatName) {
  tree_.directory("/w/bin");
  tree_.directory("/x");
  program("/w/bin/g");
  program("/x/g");
  search({"/x"}, {"/x"});
  allow(kName, "g");
  writable("/w");

  EXPECT_EQ(outcome(admit_at("/w/bin/g")), "not_allowed");
  EXPECT_EQ(outcome(admit_at("/x/g")), "admitted");
}

// guard 9.5: 87
TEST_F(SearchTest, AnExcludedNameIsThatOfTheFileThatWouldRun) {
  tree_.directory("/x");
  tree_.directory("/y");
  program("/x/bash");
  program("/x/dash");
  tree_.link(tree_.at("/x/bash"), "/y/b");
  allow(kDir, "/x");
  allow(kDir, "/y");
  deny(kName, "bash");

  const auto admission = admit_at("/y/b");

  EXPECT_EQ(outcome(admission), "excluded_over_allowance");
  EXPECT_EQ(admission.error().evidence, "both");
  EXPECT_EQ(outcome(admit_at("/x/dash")), "admitted");
}

// guard 9.5: 88
TEST_F(SearchTest, AnExcludedNameThatIsALinkExcludesWhatItLeadsTo) {
  tree_.directory("/x");
  program("/x/dash");
  program("/x/other");
  tree_.link("dash", "/x/sh");
  search({"/x"}, {"/x"});
  table_.allow_by_default = true;
  deny(kName, "sh");

  EXPECT_EQ(outcome(admit_at("/x/dash")), "excluded_over_allowance");
  EXPECT_EQ(outcome(admit_at("/x/other")), "admitted");
}

// --- formats
// ---------------------------------------------------------------------------------------

// guard 9.5: 98
TEST_F(AdmissionTest, ATextFileIsNotExecutable) {
  tree_.file("/text", "echo\n", 0755);
  tree_.file("/empty", "", 0755);
  allow(kDir, "");

  const auto admission = admit_at("/text");

  EXPECT_EQ(outcome(admission), "not_executable");
  EXPECT_EQ(admission.error().error, ENOEXEC);
  EXPECT_EQ(outcome(admit_at("/empty")), "not_executable");
  restricts_ = false;
  EXPECT_EQ(outcome(admit_at("/text")), "not_executable");
}

TEST_F(AdmissionTest, WhatMayBeExecutedButNotReadIsRefusedWhereTheTableRestricts) {
  program("/t", 0111);
  allow(kFile, "/t");
  const OrdinaryUser user;

  const auto admission = admit_at("/t");

  EXPECT_EQ(outcome(admission), "not_executable");
  EXPECT_THAT(admission.error().text, HasSubstr("not read"));
  restricts_ = false;
  const auto unrestricted = admit_at("/t");
  ASSERT_EQ(outcome(unrestricted), "admitted");
  EXPECT_THAT(unrestricted->notes(), Contains(HasSubstr("cannot be read")));
}

TEST_F(AdmissionTest, SetIdBitsAreToldToBeVoid) {
  program("/u", 04755);
  program("/g", 02755);
  program("/lock", 02644 | 0100);  // set-group-ID without group execution means no such thing
  allow(kDir, "");

  for (const char* const name : {"/u", "/g"}) {
    const auto admission = admit_at(name);
    ASSERT_TRUE(admission) << admission.error().text;
    EXPECT_THAT(admission->notes(), Contains(HasSubstr("set-id bits"))) << name;
  }
  EXPECT_THAT(admit_at("/lock")->notes(), IsEmpty());
}

TEST_F(AdmissionTest, FileCapabilitiesAreToldToBeVoid) {
  program("/t");
  allow(kFile, "/t");
  if (::geteuid() != 0) GTEST_SKIP() << "only the superuser sets file capabilities";
  // struct vfs_cap_data, revision 2: CAP_NET_RAW permitted.
  const std::string net_raw(
      "\x00\x00\x00\x02\x00\x20\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
      "\x00\x00\x00\x00",
      20);
  if (::setxattr(tree_.at("/t").c_str(), "security.capability", net_raw.data(), net_raw.size(),
                 0) != 0) {
    LOOM_SKIP_UNLESS_PROMISED("this file system has no file capabilities");
  }
  const auto admission = admit_at("/t");

  ASSERT_TRUE(admission) << admission.error().text;
  EXPECT_THAT(admission->notes(), Contains(HasSubstr("file capabilities")));
}

// --- the view
// --------------------------------------------------------------------------------------

TEST_F(AdmissionTest, WhatTheJailDoesNotShowForReadingIsNotAdmitted) {
  program("/o/t");
  program("/w/t");
  allow(kFile, "/o/t");
  allow(kFile, "/w/t");
  protect("/o/t");

  EXPECT_EQ(outcome(admit_at("/o/t")), "excluded_over_allowance");
  EXPECT_EQ(outcome(admit_at("/w/t")), "admitted");
  view_.push_back(operation(MountClass::kScratchTmpfs, MountForm::kTmpfs, tree_.at("/w"), {}));
  EXPECT_EQ(outcome(admit_at("/w/t")), "not_a_host_object");
}

// --- scripts
// ---------------------------------------------------------------------------------------

class ScriptAdmissionTest : public AdmissionTest {
 protected:
  // /x/s, a script for /x/i, which is a static program.
  void SetUp() override {
    tree_.directory("/x");
    program("/x/i");
    script("/x/s", tree_.at("/x/i"));
  }
};

// What an admission says where the tree counts as the system only to the superuser.
class SystemScriptTest : public ScriptAdmissionTest {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "the tree is not the system's to this user";
    ScriptAdmissionTest::SetUp();
    tree_is_a_system_root();
    allow(kFile, "/x/s");
  }
};

TEST_F(ScriptAdmissionTest, AnInterpreterThatTheTableAllowsIsNoSupport) {
  allow(kDir, "/x");

  const auto admission = admit_at("/x/s");

  EXPECT_EQ(outcome(admission), "admitted");
  EXPECT_THAT(support_of(admission), Not(Contains(tree_.at("/x/i"))));
}

// guard 9.5: 89
TEST_F(SystemScriptTest, TheSystemsInterpreterOfASystemScriptBecomesSupport) {
  const auto admission = admit_at("/x/s");

  EXPECT_THAT(support_of(admission), Contains(tree_.at("/x/i")));
  EXPECT_EQ(outcome(admit_at("/x/i")), "not_allowed") << "support is declared, not allowed";
}

// guard 9.5: 89
TEST_F(AdmissionTest, TheSystemsOwnScriptsStartWithoutTheirInterpreterInTheTable) {
  const std::string script = "/usr/bin/ldd";
  if (::access(script.c_str(), X_OK) != 0)
    LOOM_SKIP_UNLESS_PROMISED("the system has no /usr/bin/ldd");
  table_.allow.push_back({.kind = kFile, .value = script});

  const auto as_helper = admit(script);
  EXPECT_THAT(support_of(as_helper), Contains(HasSubstr("sh")));
  const OrdinaryUser user;
  EXPECT_EQ(support_of(admit(script)), support_of(as_helper));
}

TEST_F(SystemScriptTest, ForTheSuperuserASystemFileLiesInASystemRoot) {
  floor_ = {path("/usr"), path("/"), path(tree_.at("/o"))};

  EXPECT_EQ(outcome(admit_at("/x/s")), "interpreter_not_admitted");
}

TEST_F(SystemScriptTest, WithoutSupportTheTableMustAllowTheInterpreter) {
  table_.system_support = false;

  EXPECT_EQ(outcome(admit_at("/x/s")), "interpreter_not_admitted");
  allow(kFile, "/x/i");
  EXPECT_EQ(outcome(admit_at("/x/s")), "admitted");
}

// guard 9.5: 90
TEST_F(ScriptAdmissionTest, TheUsersOwnScriptBringsNoInterpreter) {
  allow(kFile, "/x/s");
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(tree_.at("/x/s").c_str(), OrdinaryUser::kNobody, 0), 0);
  }
  const OrdinaryUser user;

  const auto admission = admit_at("/x/s");

  ASSERT_EQ(outcome(admission), "interpreter_not_admitted");
  const Denial& denial = admission.error();
  EXPECT_THAT(denial.text, AllOf(StartsWith("interpreter_not_admitted: "),
                                 HasSubstr(tree_.at("/x/s")), HasSubstr(tree_.at("/x/i"))));
  EXPECT_EQ(
      denial.needed_by,
      (NeededBy{.program = tree_.at("/x/s"), .file = tree_.at("/x/i"), .role = "interpreter"}));
  EXPECT_EQ(denial.evidence, "none");
  EXPECT_THAT(denial.hint.value_or(""), HasSubstr(tree_.at("/x/i")));
  EXPECT_EQ(denial.op, "execute");
  EXPECT_EQ(denial.real, tree_.at("/x/s"));
}

// guard 9.5: 91
TEST_F(SystemScriptTest, AnInterpreterThatTheTableExcludesIsNoSupport) {
  deny(kFile, "/x/i");

  const auto admission = admit_at("/x/s");

  ASSERT_EQ(outcome(admission), "support_excluded");
  ASSERT_TRUE(admission.error().rule);
  EXPECT_EQ(admission.error().rule->list, "exec.deny");
  EXPECT_EQ(admission.error().rule->written, tree_.at("/x/i"));
  EXPECT_EQ(admission.error().needed_by->file, tree_.at("/x/i"));
}

// guard 9.5: 92
TEST_F(SystemScriptTest, NorIsOneThatIsProtected) {
  protect("/x/i");

  const auto admission = admit_at("/x/s");

  ASSERT_EQ(outcome(admission), "support_excluded");
  ASSERT_TRUE(admission.error().rule);
  EXPECT_EQ(admission.error().rule->list, "protected");
}

TEST_F(SystemScriptTest, AnAllowanceDoesNotReopenAnExcludedInterpreter) {
  allow(kFile, "/x/i");
  deny(kName, "i");

  const auto admission = admit_at("/x/s");

  ASSERT_EQ(outcome(admission), "support_excluded");
  EXPECT_EQ(admission.error().evidence, "both");
  ASSERT_TRUE(admission.error().overridden);
  EXPECT_EQ(admission.error().overridden->written, tree_.at("/x/i"));
}

TEST_F(SystemScriptTest, AnInterpreterThatTheJailDoesNotShowIsNotAdmitted) {
  view_.push_back(operation(MountClass::kScratchTmpfs, MountForm::kTmpfs, tree_.at("/x/i"), {}));

  EXPECT_EQ(outcome(admit_at("/x/s")), "interpreter_not_admitted");
}

// guard 9.5: 93
TEST_F(AdmissionTest, AScriptForEnvCarriesEnvAndNothingThatEnvFinds) {
  tree_.file("/s", "#!/usr/bin/env python3\n", 0755);
  allow(kFile, "/s");
  table_.allow.push_back({.kind = kFile, .value = "/usr/bin/env"});

  const auto admission = admit_at("/s");

  ASSERT_EQ(outcome(admission), "admitted") << admission.error().text;
  EXPECT_THAT(support_of(admission), Not(Contains(HasSubstr("python"))));
}

// guard 9.5: 94
TEST_F(AdmissionTest, FiveScriptsMayStandInFrontOfABinaryAndNotSix) {
  table_.allow_by_default = true;
  deny(kFile, "/z");
  program("/0");
  for (int i = 1; i <= 6; ++i)
    script("/" + std::to_string(i), tree_.at("/" + std::to_string(i - 1)));

  EXPECT_EQ(outcome(admit_at("/5")), "admitted");
  const auto sixth = admit_at("/6");
  EXPECT_EQ(outcome(sixth), "too_many_interpreters");
  EXPECT_EQ(sixth.error().error, ELOOP);
}

TEST_F(AdmissionTest, AScriptThatIsItsOwnInterpreterIsTooMany) {
  script("/s", tree_.at("/s"));
  allow(kFile, "/s");

  EXPECT_EQ(outcome(admit_at("/s")), "too_many_interpreters");
}

// guard 9.5: 95
TEST_F(AdmissionTest, ARelativeInterpreterIsRefused) {
  program("/i");
  tree_.file("/s", "#!i\n", 0755);
  allow(kDir, "");

  EXPECT_EQ(outcome(admit(tree_.at("/s"), tree_.at(""))), "interpreter_relative");
}

// guard 9.5: 96
TEST_F(ScriptAdmissionTest, AShortScriptNeedsNoNewline) {
  allow(kDir, "/x");
  tree_.file("/x/s", "#!" + tree_.at("/x/i"), 0755);

  EXPECT_EQ(outcome(admit_at("/x/s")), "admitted");
}

// guard 9.5: 97
TEST_F(ScriptAdmissionTest, ACarriageReturnBelongsToTheInterpretersName) {
  allow(kDir, "/x");
  tree_.file("/x/s", "#!" + tree_.at("/x/i") + "\r\n", 0755);

  const auto admission = admit_at("/x/s");

  ASSERT_EQ(outcome(admission), "interpreter_not_admitted");
  EXPECT_EQ(admission.error().error, ENOENT);
  EXPECT_EQ(admission.error().needed_by->file, tree_.at("/x/i") + "\r");
  EXPECT_THAT(admission.error().text, HasSubstr("\\x0d"));
  EXPECT_THAT(admission.error().hint.value_or(""), HasSubstr("carriage return"));
  program("/x/i\r");
  EXPECT_EQ(outcome(admit_at("/x/s")), "admitted");
}

TEST_F(ScriptAdmissionTest, AnInterpreterThatCannotRunIsNotAdmitted) {
  allow(kDir, "/x");
  EXPECT_EQ(outcome(admit_at("/x/s")), "admitted");

  program("/x/i", 0644);
  EXPECT_EQ(outcome(admit_at("/x/s")), "interpreter_not_admitted");
  tree_.file("/x/i", "text\n", 0755);
  const auto text = admit_at("/x/s");
  EXPECT_EQ(outcome(text), "interpreter_not_admitted");
  EXPECT_EQ(text.error().error, ENOEXEC);
  ASSERT_EQ(::unlink(tree_.at("/x/i").c_str()), 0);
  tree_.directory("/x/i");
  EXPECT_EQ(outcome(admit_at("/x/s")), "interpreter_not_admitted");
}

TEST_F(ScriptAdmissionTest, TheInterpreterMustBeThereUnderEveryPolicy) {
  restricts_ = false;
  EXPECT_EQ(outcome(admit_at("/x/s")), "admitted");
  EXPECT_THAT(support_of(admit_at("/x/s")), IsEmpty());

  ASSERT_EQ(::unlink(tree_.at("/x/i").c_str()), 0);
  EXPECT_EQ(outcome(admit_at("/x/s")), "interpreter_not_admitted");
}

// guard 9.7: 134
TEST_F(SystemScriptTest, WhatTheCommandWritesBringsNoInterpreter) {
  program("/x/su");
  script("/w/s", tree_.at("/x/su"));
  script("/x/s", tree_.at("/x/su"));
  allow(kFile, "/w/s");
  EXPECT_THAT(support_of(admit_at("/x/s")), Contains(tree_.at("/x/su"))) << "control";
  EXPECT_EQ(outcome(admit_at("/w/s")), "admitted") << "control: nobody can write /w yet";

  writable("/w");

  EXPECT_EQ(outcome(admit_at("/w/s")), "interpreter_not_admitted");
  EXPECT_EQ(outcome(admit_at("/x/s")), "admitted");
}

TEST_F(SystemScriptTest, NorDoesAnInterpreterBecomeSupportThatTheCommandCanWrite) {
  program("/w/i");
  script("/x/s", tree_.at("/w/i"));
  EXPECT_EQ(outcome(admit_at("/x/s")), "admitted") << "control";

  writable("/w");

  EXPECT_EQ(outcome(admit_at("/x/s")), "interpreter_not_admitted");
}

TEST_F(SystemScriptTest, NorOneThatIsReachedThroughALinkThatTheCommandCanReplace) {
  program("/x/su");
  tree_.link(tree_.at("/x/su"), "/w/i");
  script("/x/s", tree_.at("/w/i"));
  EXPECT_THAT(support_of(admit_at("/x/s")), Contains(tree_.at("/x/su"))) << "control";

  writable("/w");

  EXPECT_EQ(outcome(admit_at("/x/s")), "interpreter_not_admitted");
}

// --- who wrote a file
// ------------------------------------------------------------------------------

class AuthorTest : public AdmissionTest {
 protected:
  [[nodiscard]] bool is_the_systems(const std::string& name) {
    const Snapshot taken = snapshot();
    const auto landing = walk(name);
    return landing && is_system_authored(Guard(taken, {.view = &view_, .floor = floor_}), *landing);
  }
};

TEST_F(AuthorTest, TheSystemsFilesAreTheSystemsToEveryUser) {
  EXPECT_TRUE(is_the_systems("/usr/bin/env"));
  EXPECT_TRUE(is_the_systems("/bin/sh"));
  const OrdinaryUser user;
  EXPECT_TRUE(is_the_systems("/usr/bin/env"));
  EXPECT_TRUE(is_the_systems("/bin/sh"));
}

TEST_F(AuthorTest, WhatTheUserOwnsOrCanWriteIsTheUsers) {
  if (::geteuid() != 0) GTEST_SKIP() << "only the superuser makes files for others";
  // Not below a directory that everybody may write, which would be the user's already.
  const Tree ours("/run");
  ours.directory("/d");
  ours.file("/d/f");
  ours.file("/open", "content", 0666);
  ours.file("/owned", "content", 0444);
  ASSERT_EQ(::chown(ours.at("/owned").c_str(), OrdinaryUser::kNobody, 0), 0);
  ours.link(ours.at("/d/f"), "/l");
  ours.link(ours.at("/d/f"), "/theirs");
  ASSERT_EQ(::lchown(ours.at("/theirs").c_str(), OrdinaryUser::kNobody, 0), 0);
  const OrdinaryUser user;

  EXPECT_TRUE(is_the_systems(ours.at("/d/f")));
  EXPECT_TRUE(is_the_systems(ours.at("/l")));
  EXPECT_FALSE(is_the_systems(ours.at("/theirs")));
  EXPECT_FALSE(is_the_systems(ours.at("/open")));
  EXPECT_FALSE(is_the_systems(ours.at("/owned"))) << "its owner may make it writable";
}

TEST_F(AuthorTest, WhatLiesBelowADirectoryOfTheUsersIsTheUsers) {
  if (::geteuid() != 0) GTEST_SKIP() << "only the superuser makes files for others";
  const Tree ours("/run");
  ours.directory("/owned/d");
  ours.file("/owned/d/f");
  ours.directory("/open/d");
  ours.file("/open/d/f");
  ours.directory("/open", 0777);
  ASSERT_EQ(::chown(ours.at("/owned").c_str(), OrdinaryUser::kNobody, 0), 0);
  ours.directory("/d");
  ours.file("/d/f");
  const OrdinaryUser user;

  EXPECT_TRUE(is_the_systems(ours.at("/d/f")));
  EXPECT_FALSE(is_the_systems(ours.at("/owned/d/f")));
  EXPECT_FALSE(is_the_systems(ours.at("/open/d/f")));
}

// --- linkers
// ---------------------------------------------------------------------------------------

class LinkerTest : public AdmissionTest {
 protected:
  // /x/t, a program whose linker is `linker`, in the table.
  void dynamic(const std::string& linker) {
    tree_.directory("/x");
    tree_.file("/x/t", dynamic_program(linker), 0755);
    allow(kFile, "/x/t");
  }
  // Of this test: a file of the system's linker set, as the program names it.
  static std::string own_linker() {
    const UniqueFd self(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
    return read_program(self.get(), own_program_rules())->needs.value_or("");
  }
};

TEST_F(LinkerTest, EveryProgramMayUseTheSystemsLinker) {
  dynamic(own_linker());

  const auto admission = admit_at("/x/t");

  EXPECT_THAT(support_of(admission), Contains(std::filesystem::canonical(own_linker()).string()));
  EXPECT_EQ(outcome(admit(own_linker())), "not_allowed") << "support is declared, not allowed";
}

TEST_F(LinkerTest, TheSystemsLinkersAreThereForWhatAStaticProgramStarts) {
  program("/t");
  allow(kFile, "/t");

  EXPECT_THAT(support_of(admit_at("/t")),
              Contains(std::filesystem::canonical(own_linker()).string()));
}

// guard 9.5: 99
TEST_F(LinkerTest, WithoutSupportTheTableMustAllowTheLinker) {
  dynamic(own_linker());
  table_.system_support = false;

  const auto admission = admit_at("/x/t");

  ASSERT_EQ(outcome(admission), "linker_not_admitted");
  EXPECT_EQ(admission.error().needed_by,
            (NeededBy{.program = tree_.at("/x/t"), .file = own_linker(), .role = "linker"}));
  table_.allow.push_back({.kind = kFile, .value = own_linker()});
  EXPECT_EQ(outcome(admit_at("/x/t")), "admitted");
  EXPECT_THAT(support_of(admit_at("/x/t")), IsEmpty());
}

// A linker runs whatever it is given: "#!/lib64/ld-linux-x86-64.so.2 /usr/bin/id" would run id.
TEST_F(LinkerTest, NoScriptOfTheCommandsBringsTheLinkerAsItsInterpreter) {
  if (::geteuid() != 0) GTEST_SKIP() << "the tree is not the system's to this user";
  tree_is_a_system_root();
  tree_.directory("/sys/lib");
  program("/sys/lib/ld-test.so.2");
  tree_has_the_systems_linkers();
  dynamic(tree_.at("/sys/lib/ld-test.so.2"));
  script("/w/s", tree_.at("/sys/lib/ld-test.so.2") + " /usr/bin/id");
  allow(kFile, "/w/s");
  EXPECT_EQ(outcome(admit_at("/w/s")), "admitted") << "control: the system wrote it";

  writable("/w");
  writable("/x");

  const auto script = admit_at("/w/s");
  ASSERT_EQ(outcome(script), "interpreter_not_admitted");
  EXPECT_EQ(script.error().needed_by->role, "interpreter");
  EXPECT_EQ(outcome(admit_at("/x/t")), "admitted") << "a binary may name it";
  allow(kFile, "/sys/lib/ld-test.so.2");
  EXPECT_EQ(outcome(admit_at("/w/s")), "admitted") << "the table allows it";
}

TEST_F(LinkerTest, AnExcludedLinkerRefusesWhatNeedsIt) {
  dynamic(own_linker());
  table_.deny.push_back({.kind = kFile, .value = own_linker()});
  program("/x/static");
  allow(kFile, "/x/static");

  const auto admission = admit_at("/x/t");

  EXPECT_EQ(outcome(admission), "support_excluded");
  const auto without = admit_at("/x/static");
  EXPECT_EQ(outcome(without), "admitted");
  EXPECT_THAT(support_of(without),
              Not(Contains(std::filesystem::canonical(own_linker()).string())));
}

TEST_F(LinkerTest, NothingIsAddedToATableThatRestrictsNothing) {
  dynamic(own_linker());
  restricts_ = false;

  EXPECT_THAT(support_of(admit_at("/x/t")), IsEmpty());
  EXPECT_EQ(linkers_.listings(), 0U);
}

TEST_F(LinkerTest, AMissingLinkerIsNamed) {
  dynamic(tree_.at("/no/ld.so"));

  const auto admission = admit_at("/x/t");

  ASSERT_EQ(outcome(admission), "linker_not_admitted");
  EXPECT_EQ(admission.error().error, ENOENT);
  EXPECT_THAT(admission.error().text, HasSubstr(tree_.at("/no/ld.so")));
}

TEST_F(LinkerTest, ARelativeLinkerIsRefused) {
  dynamic("ld.so");

  EXPECT_EQ(outcome(admit_at("/x/t")), "interpreter_relative");
}

TEST_F(LinkerTest, ALinkerElsewhereServesAnybodyWhenTheSystemWroteIt) {
  if (::geteuid() != 0) GTEST_SKIP() << "the tree is not the system's to this user";
  tree_.directory("/s");
  program("/s/ld-test.so.1");
  dynamic(tree_.at("/s/ld-test.so.1"));
  EXPECT_EQ(outcome(admit_at("/x/t")), "linker_not_admitted");

  floor_.push_back(path(tree_.at("/s")));

  EXPECT_THAT(support_of(admit_at("/x/t")), Contains(tree_.at("/s/ld-test.so.1")));
}

TEST_F(LinkerTest, AProgramOfTheCommandsCannotBringAnotherProgramAsItsLinker) {
  if (::geteuid() != 0) GTEST_SKIP() << "the tree is not the system's to this user";
  tree_is_a_system_root();
  program("/o/su");
  dynamic(tree_.at("/o/su"));
  EXPECT_EQ(outcome(admit_at("/x/t")), "admitted") << "control: nobody can write /x yet";

  writable("/x");

  EXPECT_EQ(outcome(admit_at("/x/t")), "linker_not_admitted");
}

TEST_F(LinkerTest, ALinkerThatTheCommandCanWriteIsNoSupport) {
  tree_.directory("/sys/lib/arch");
  program("/sys/lib/ld-evil.so.2");
  program("/sys/lib/arch/ld-arch.so.2");
  tree_has_the_systems_linkers();
  program("/t");
  allow(kFile, "/t");
  EXPECT_THAT(support_of(admit_at("/t")),
              testing::UnorderedElementsAre(tree_.at("/sys/lib/ld-evil.so.2"),
                                            tree_.at("/sys/lib/arch/ld-arch.so.2")));

  writable("/sys/lib/arch");

  EXPECT_THAT(support_of(admit_at("/t")), testing::ElementsAre(tree_.at("/sys/lib/ld-evil.so.2")));
}

TEST_F(LinkerTest, AVerdictAloneListsNoDirectoryForTheSystemsLinker) {
  dynamic(own_linker());

  EXPECT_EQ(outcome(admit_at("/x/t")), "admitted");
  EXPECT_EQ(verdict_linkers_.listings(), 0U);
  EXPECT_GT(linkers_.listings(), 0U) << "control: a launch needs all of them";
}

TEST_F(LinkerTest, AVerdictAloneListsWhereTheListDecides) {
  tree_.directory("/sys/lib");
  program("/sys/lib/ld-listed.so.2");
  program("/sys/ld-elsewhere.so.2");
  tree_has_the_systems_linkers();
  dynamic(tree_.at("/sys/lib/ld-listed.so.2"));
  tree_.file("/x/u", dynamic_program(tree_.at("/sys/ld-elsewhere.so.2")), 0755);
  allow(kFile, "/x/u");

  EXPECT_EQ(outcome(admit_at("/x/t")), "admitted") << "nobody calls the tree the system's";
  EXPECT_GT(verdict_linkers_.listings(), 0U);
  EXPECT_EQ(outcome(admit_at("/x/u")), "linker_not_admitted");
}

TEST_F(LinkerTest, TheSystemsLinkerStaysSupportInAWritableRegionWhereTheUserMayNotWrite) {
  dynamic(own_linker());
  view_ = {operation(MountClass::kWritable, MountForm::kBind, "/", view_[0].identity)};
  if (::geteuid() == 0) {
    EXPECT_EQ(outcome(admit_at("/x/t")), "linker_not_admitted");
  }
  const OrdinaryUser user;

  EXPECT_EQ(outcome(admit_at("/x/t")), "admitted");
}

TEST_F(LinkerTest, OnlyFilesAreLinkersAndEachIsToldOnce) {
  tree_.directory("/sys/usr/lib/ld.so.d");
  tree_.directory("/sys/usr/lib64");
  tree_.link("usr/lib", "/sys/lib");
  tree_.link("usr/lib64", "/sys/lib64");
  program("/sys/usr/lib/ld-2.so");
  tree_.link("../lib/ld-2.so", "/sys/usr/lib64/ld-linux.so.2");
  tree_.link("nowhere", "/sys/usr/lib64/ld-dangling.so.2");
  tree_has_the_systems_linkers();
  program("/t");
  allow(kFile, "/t");

  EXPECT_THAT(support_of(admit_at("/t")), testing::ElementsAre(tree_.at("/sys/usr/lib/ld-2.so")));
}

// --- from admission to launch
// ----------------------------------------------------------------------

// guard 9.5: 100
TEST_F(AdmissionTest, AProgramThatBecameALinkSinceIsRedirectedAndNotFollowed) {
  tree_.directory("/x");
  tree_.directory("/y");
  program("/x/t");
  program("/y/t");
  allow(kFile, "/x/t");
  const auto admission = admit_at("/x/t");
  ASSERT_TRUE(admission) << admission.error().text;
  const AdmittedProgram& admitted = admission->program();
  EXPECT_TRUE(reopen(admitted.real, admitted.identity)) << "control";

  ASSERT_EQ(::unlink(tree_.at("/x/t").c_str()), 0);
  tree_.link(tree_.at("/y/t"), "/x/t");

  const auto reopened = reopen(admitted.real, admitted.identity);
  ASSERT_FALSE(reopened);
  EXPECT_THAT(reopened.error().message, StartsWith("redirected: "));
  EXPECT_EQ(outcome(admit_at("/x/t")), "admitted") << "frozen anew, the link counts";
}

// guard 9.5: 100
TEST_F(AdmissionTest, AnAllowanceIsNotReAimedWhenItsFileBecomesALink) {
  tree_.directory("/x");
  tree_.directory("/y");
  program("/x/t");
  program("/y/t");
  allow(kFile, "/x/t");
  const Snapshot taken = snapshot();
  const Guard guard(taken, {.view = &view_, .floor = floor_});
  EXPECT_EQ(outcome(guard::admit(guard, tree_.at("/x/t"), "")), "admitted") << "control";

  ASSERT_EQ(::unlink(tree_.at("/x/t").c_str()), 0);
  tree_.link(tree_.at("/y/t"), "/x/t");

  EXPECT_EQ(outcome(guard::admit(guard, tree_.at("/x/t"), "")), "not_allowed");
}

}  // namespace
}  // namespace loom::guard
