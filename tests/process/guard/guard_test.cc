#include "guard/guard.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "guard/placeholder.h"
#include "guard/publish.h"
#include "judging_support.h"
#include "tests/support/promised.h"

namespace loom::guard {
namespace {

using law::Operation;

class GuardTest : public ::testing::Test {
 protected:
  // Judges against the world as it is now.
  [[nodiscard]] Judged<Landing> judge(Operation operation, std::string_view name,
                                      Performer performer = Performer::kPayload) {
    return judge_path(operation, world_.tree.at(name), performer);
  }
  [[nodiscard]] Judged<Landing> judge_path(Operation operation, std::string_view name,
                                           Performer performer = Performer::kPayload) {
    snapshot_.emplace(world_.snapshot());
    return Guard(*snapshot_, shown(), pins_).judge(operation, name, performer);
  }
  [[nodiscard]] std::string reason_of(Operation operation, std::string_view name) {
    return reason(judge(operation, name));
  }
  // Only of a refusal.
  [[nodiscard]] Denial denial_of(Operation operation, std::string_view name) {
    auto judged = judge(operation, name);
    if (judged) {
      ADD_FAILURE() << name << " is admitted";
      return {};
    }
    return std::move(judged).error();
  }
  [[nodiscard]] std::string rename_reason(std::string_view from, std::string_view to) {
    snapshot_.emplace(world_.snapshot());
    return reason(
        Guard(*snapshot_, shown(), pins_).judge_rename(world_.tree.at(from), world_.tree.at(to)));
  }
  [[nodiscard]] std::string real_of(Operation operation, std::string_view name) {
    const auto judged = judge(operation, name);
    const std::string base = world_.tree.at("");
    if (judged) return judged->real().str().substr(base.size());
    return judged.error().real.value_or(base + "?").substr(base.size());
  }
  [[nodiscard]] bool payload_writes(std::string_view name) {
    snapshot_.emplace(world_.snapshot());
    const auto landing = walk(world_.tree.at(name));
    return landing && Guard(*snapshot_, shown(), pins_).payload_writes(*landing);
  }
  [[nodiscard]] ShownView shown() const {
    return {.view = &world_.view, .floor = floor_, .mounts = mounts_ ? &*mounts_ : nullptr};
  }

  World world_;
  std::vector<AbsolutePath> floor_;
  std::optional<std::vector<MountFact>> mounts_;
  std::vector<FileIdentity> pins_;
  std::optional<Snapshot> snapshot_;
};

constexpr auto kReads =
    std::to_array<Operation>({Operation::kRead, Operation::kExecute, Operation::kMountReadOnly});
constexpr auto kWrites =
    std::to_array<Operation>({Operation::kWrite, Operation::kRemove, Operation::kRenameFrom,
                              Operation::kRenameTo, Operation::kMountWritable});

// --- The view ------------------------------------------------------------------------------------

// guard 9.2: 21
TEST_F(GuardTest, AWritableRootAdmitsEveryOperation) {
  world_.writable("/w");
  world_.tree.file("/w/a", "content", 0755);

  for (const Operation operation : kReads) EXPECT_EQ(reason_of(operation, "/w/a"), "admitted");
  for (const Operation operation : kWrites) EXPECT_EQ(reason_of(operation, "/w/a"), "admitted");
  EXPECT_EQ(reason_of(Operation::kList, "/w"), "admitted");
  EXPECT_EQ(reason_of(Operation::kCreate, "/w/new"), "admitted");
}

TEST_F(GuardTest, WhatNothingShowsIsNotAllowed) {
  world_.writable("/w");
  world_.tree.file("/o/a", "content", 0755);

  for (const Operation operation : kReads) EXPECT_EQ(reason_of(operation, "/o/a"), "not_allowed");
  for (const Operation operation : kWrites) EXPECT_EQ(reason_of(operation, "/o/a"), "not_allowed");
  EXPECT_EQ(reason_of(Operation::kList, "/o"), "not_allowed");
  EXPECT_EQ(reason_of(Operation::kCreate, "/o/new"), "not_allowed");
}

// guard 9.2: 22
TEST_F(GuardTest, AReadableRootInsideAWritableOneIsReadOnly) {
  world_.tree.directory("/w/ro");
  world_.tree.file("/w/ro/a", "content", 0755);
  world_.writable("/w");
  world_.readable("/w/ro");

  for (const Operation operation : kWrites) EXPECT_EQ(reason_of(operation, "/w/ro/a"), "read_only");
  for (const Operation operation : kReads) EXPECT_EQ(reason_of(operation, "/w/ro/a"), "admitted");
  EXPECT_EQ(reason_of(Operation::kCreate, "/w/ro/new"), "read_only");
}

// guard 9.2: 23
TEST_F(GuardTest, AWritableRootInsideAReadableOneIsWritable) {
  world_.tree.directory("/o/w");
  world_.tree.file("/o/w/a");
  world_.tree.file("/o/a");
  world_.readable("/o");
  world_.writable("/o/w");

  EXPECT_EQ(reason_of(Operation::kWrite, "/o/w/a"), "admitted");
  EXPECT_EQ(reason_of(Operation::kWrite, "/o/a"), "read_only");
}

// guard 9.2: 24, 25, 26
TEST_F(GuardTest, AProtectedPathIsExcludedForEveryOperation) {
  world_.tree.file("/w/key", "content", 0755);
  world_.tree.file("/w/other", "content", 0755);
  world_.tree.directory("/w/.ssh");
  world_.tree.file("/w/.ssh/id");
  world_.writable("/w");
  world_.hidden("/w/key");
  world_.hidden("/w/.ssh");

  for (const Operation operation : kReads) {
    EXPECT_EQ(reason_of(operation, "/w/key"), "excluded_over_allowance");
    EXPECT_EQ(reason_of(operation, "/w/other"), "admitted");
  }
  for (const Operation operation : kWrites) {
    EXPECT_EQ(reason_of(operation, "/w/key"), "excluded_over_allowance");
  }
  EXPECT_EQ(reason_of(Operation::kRead, "/w/.ssh/id"), "excluded_over_allowance");
  EXPECT_EQ(reason_of(Operation::kList, "/w/.ssh"), "excluded_over_allowance");
  EXPECT_EQ(reason_of(Operation::kCreate, "/w/.ssh/n"), "excluded_over_allowance");
  EXPECT_EQ(reason_of(Operation::kList, "/w"), "admitted");
}

TEST_F(GuardTest, AMaskInTheViewIsTheLawsToJudge) {
  world_.tree.file("/w/key");
  world_.tree.file("/w/keyring");
  world_.writable("/w");
  world_.hidden("/w/key");
  world_.show(MountClass::kProtected, MountForm::kNullDevice, "/w/key");

  const Denial denial = denial_of(Operation::kRead, "/w/key");
  EXPECT_EQ(denial.reason, "excluded_over_allowance") << "evidence is taken without the masks";
  EXPECT_EQ(denial.evidence, "both");
  EXPECT_EQ(reason_of(Operation::kRead, "/w/keyring"), "admitted");
}

TEST_F(GuardTest, AProtectedPathThatNothingShowsIsExcludedAndNoAllowanceIsNamed) {
  world_.tree.file("/o/key");
  world_.hidden("/o/key");

  const Denial denial = denial_of(Operation::kRead, "/o/key");
  EXPECT_EQ(denial.reason, "excluded");
  EXPECT_EQ(denial.evidence, "against");
  EXPECT_EQ(denial.overridden, std::nullopt);
}

// guard 9.2: 27, 28
TEST_F(GuardTest, AnAbsentProtectedPathMayNotBeCreatedUnderAnySpelling) {
  world_.writable("/w");
  world_.hidden("/w/.env");

  const Denial stored = denial_of(Operation::kCreate, "/w/.env");
  EXPECT_EQ(stored.reason, "excluded_over_allowance");
  EXPECT_EQ(stored.rule->match, "stored");
  EXPECT_EQ(stored.limit, std::nullopt);

  const Denial folded = denial_of(Operation::kCreate, "/w/.ENV");
  EXPECT_EQ(folded.reason, "excluded_over_allowance");
  EXPECT_EQ(folded.rule->match, "folded");
  EXPECT_EQ(folded.limit, "L12");
  EXPECT_NE(folded.text.find("another spelling"), std::string::npos) << folded.text;

  EXPECT_EQ(reason_of(Operation::kCreate, "/w/.env2"), "admitted");
}

// guard 9.2: 30, 31
TEST_F(GuardTest, AnotherSpellingOfAProtectedPathIsExcludedAndALongerNameIsNot) {
  world_.tree.file("/w/Secrets");
  world_.tree.file("/w/secrets");
  world_.tree.file("/w/Secretsx");
  world_.writable("/w");
  world_.hidden("/w/Secrets");

  const Denial folded = denial_of(Operation::kRead, "/w/secrets");
  EXPECT_EQ(folded.rule->match, "folded");
  EXPECT_EQ(folded.limit, "L12");
  EXPECT_EQ(reason_of(Operation::kRead, "/w/Secretsx"), "admitted");
}

// guard 9.2: 32
TEST_F(GuardTest, ALinkIsJudgedWhereItLeads) {
  world_.tree.file("/w/key");
  world_.tree.file("/w/other");
  world_.tree.link("key", "/w/l");
  world_.tree.link("other", "/w/harmless");
  world_.writable("/w");
  world_.hidden("/w/key");

  EXPECT_EQ(reason_of(Operation::kRead, "/w/l"), "excluded_over_allowance");
  EXPECT_EQ(reason_of(Operation::kRead, "/w/harmless"), "admitted");
}

// guard 9.2: 33
TEST_F(GuardTest, AProtectedLinkProtectsItsTargetAndItself) {
  world_.tree.file("/w/key");
  world_.tree.link("key", "/w/l");
  world_.tree.link("key", "/w/other");
  world_.writable("/w");
  world_.hidden("/w/l");

  EXPECT_EQ(reason_of(Operation::kRead, "/w/key"), "excluded_over_allowance");
  EXPECT_EQ(reason_of(Operation::kRemove, "/w/l"), "excluded_over_allowance");
  EXPECT_EQ(reason_of(Operation::kRenameTo, "/w/l"), "excluded_over_allowance");
  EXPECT_EQ(reason_of(Operation::kRemove, "/w/other"), "admitted") << "a link of its own";
}

// guard 9.2: 34
TEST_F(GuardTest, AHardLinkIsAFileOfItsOwn) {
  world_.tree.file("/o/key");
  std::filesystem::create_hard_link(world_.tree.at("/o/key"), world_.tree.at("/w/h"));
  world_.writable("/w");
  world_.hidden("/o/key");

  EXPECT_EQ(reason_of(Operation::kRead, "/w/h"), "admitted");
  EXPECT_EQ(reason_of(Operation::kRead, "/o/key"), "excluded");
}

// guard 9.2: 35
TEST_F(GuardTest, TheNullDeviceIsForEverybodyAndNoOtherDeviceIs) {
  auto judged = judge_path(Operation::kWrite, "/dev/null");
  ASSERT_TRUE(judged) << judged.error().text;
  EXPECT_TRUE(judged->write(WriteMode::kKeep).has_value());
  EXPECT_TRUE(judge_path(Operation::kRead, "/dev/null").has_value());

  EXPECT_EQ(reason(judge_path(Operation::kRead, "/dev//null")), "not_allowed");
  EXPECT_EQ(reason(judge_path(Operation::kRead, "/dev/zero")), "not_allowed");
  EXPECT_EQ(reason(judge_path(Operation::kRemove, "/dev/null")), "not_allowed");
  world_.show_at(MountClass::kDev, MountForm::kDev, path("/dev"));
  EXPECT_EQ(reason(judge_path(Operation::kRead, "/dev/zero")), "not_a_host_object");
  EXPECT_EQ(reason(judge_path(Operation::kRead, "/dev/null")), "admitted");
}

// guard 9.2: 36
TEST_F(GuardTest, WhatTheHostHasBehindTheScratchIsNoHostObject) {
  world_.tree.directory("/o/tmp");
  world_.tree.file("/o/tmp/x");
  world_.tree.file("/o/x");
  world_.readable("/o");
  world_.show(MountClass::kScratchTmpfs, MountForm::kTmpfs, "/o/tmp");

  const Denial denial = denial_of(Operation::kRead, "/o/tmp/x");
  EXPECT_EQ(denial.reason, "not_a_host_object");
  EXPECT_EQ(denial.limit, "L33");
  EXPECT_EQ(denial.evidence, "none");
  EXPECT_EQ(denial.rule->list, "scratch");
  EXPECT_EQ(reason_of(Operation::kRead, "/o/x"), "admitted");
}

// guard 9.2: 37, 38
TEST_F(GuardTest, WhatTheExecTableShowsIsReadableAndOnlyThat) {
  world_.tree.directory("/o/tools");
  world_.tree.file("/o/tools/readme");
  world_.table(false, {world_.dir("/o/tools")}, {});
  EXPECT_EQ(reason_of(Operation::kRead, "/o/tools/readme"), "not_allowed");

  world_.show(MountClass::kExecShown, MountForm::kReadOnlyBindTry, "/o/tools");
  EXPECT_EQ(reason_of(Operation::kRead, "/o/tools/readme"), "admitted");
  EXPECT_EQ(reason_of(Operation::kRead, "/o"), "not_allowed");

  const Denial denial = denial_of(Operation::kWrite, "/o/tools/readme");
  EXPECT_EQ(denial.reason, "read_only");
  EXPECT_EQ(denial.rule->dimension, "exec");
  EXPECT_EQ(denial.rule->list, "exec.allow");
}

// guard 9.2: 39
TEST_F(GuardTest, ADirectoryAboveAProtectedPathIsNotMovedOrRemoved) {
  world_.tree.directory("/w/a");
  world_.tree.directory("/w/c");
  world_.tree.file("/w/a/key");
  world_.writable("/w");
  world_.hidden("/w/a/key");

  EXPECT_EQ(rename_reason("/w/a", "/w/b"), "would_move_excluded");
  const Denial denial = denial_of(Operation::kRemove, "/w/a");
  EXPECT_EQ(denial.reason, "would_move_excluded");
  EXPECT_EQ(denial.limit, "L15");
  EXPECT_EQ(denial.rule->written, world_.tree.at("/w/a/key"));
  EXPECT_EQ(rename_reason("/w/c", "/w/b"), "admitted");
}

TEST_F(GuardTest, ADirectoryAboveAnExcludedProgramIsNotMovedEither) {
  world_.tree.directory("/w/a/bin");
  world_.tree.directory("/w/c");
  world_.writable("/w");
  world_.table(true, {}, {world_.dir("/w/a/bin"), World::bare("sh")});

  const Denial denial = denial_of(Operation::kRenameFrom, "/w/a");
  EXPECT_EQ(denial.reason, "would_move_excluded");
  EXPECT_EQ(denial.rule->list, "exec.deny");
  EXPECT_EQ(rename_reason("/w/c", "/w/b"), "admitted") << "a bare name lies nowhere";
}

// guard 9.2: 40
TEST_F(GuardTest, AProtectedFileIsNeitherRenamedNorRemoved) {
  world_.tree.directory("/w/a");
  world_.tree.file("/w/a/key");
  world_.tree.file("/w/a/other");
  world_.writable("/w");
  world_.hidden("/w/a/key");

  EXPECT_EQ(rename_reason("/w/a/key", "/w/free"), "excluded_over_allowance");
  EXPECT_EQ(rename_reason("/w/a/other", "/w/a/key"), "excluded_over_allowance");
  EXPECT_EQ(reason_of(Operation::kRemove, "/w/a/key"), "excluded_over_allowance");
  EXPECT_EQ(rename_reason("/w/a/other", "/w/free"), "admitted");
}

TEST_F(GuardTest, AReadOnlyMountIsReadAndAWritableOneWritten) {
  world_.tree.directory("/o/ro");
  world_.tree.directory("/o/rw");
  world_.tree.file("/o/ro/a");
  world_.tree.file("/o/rw/a");
  world_.mounted("/o/ro", false);
  world_.mounted("/o/rw", true);

  EXPECT_EQ(reason_of(Operation::kRead, "/o/ro/a"), "admitted");
  EXPECT_EQ(reason_of(Operation::kWrite, "/o/rw/a"), "admitted");
  const Denial denial = denial_of(Operation::kWrite, "/o/ro/a");
  EXPECT_EQ(denial.reason, "read_only");
  EXPECT_EQ(denial.rule->list, "mounts");
  EXPECT_EQ(denial.rule->kind, "mount");
  EXPECT_EQ(denial.rule->index, 0u);
}

TEST_F(GuardTest, ARegionThatWasAbsentWhenItWasPlannedShowsNothing) {
  world_.writable("/w");
  world_.readable("/w/absent");

  EXPECT_EQ(reason_of(Operation::kCreate, "/w/absent"), "admitted");
  world_.tree.directory("/w/present");
  world_.readable("/w/present");
  EXPECT_EQ(reason_of(Operation::kCreate, "/w/present/a"), "read_only");
}

// --- Mount points --------------------------------------------------------------------------------

TEST_F(GuardTest, WhatTheJailMountsIsNeitherRemovedNorRenamed) {
  world_.tree.directory("/w/ro");
  world_.tree.directory("/w/pinned");
  world_.tree.directory("/w/plain");
  world_.writable("/w");
  world_.readable("/w/ro");
  world_.show(MountClass::kPin, MountForm::kBind, "/w/pinned");

  for (const char* const name : {"/w", "/w/ro", "/w/pinned"}) {
    EXPECT_EQ(reason_of(Operation::kRemove, name), "mount_point") << name;
    EXPECT_EQ(reason_of(Operation::kRenameFrom, name), "mount_point") << name;
    EXPECT_EQ(reason_of(Operation::kRenameTo, name), "mount_point") << name;
  }
  EXPECT_EQ(reason_of(Operation::kRemove, "/w/plain"), "admitted");
  EXPECT_EQ(denial_of(Operation::kRemove, "/w/ro").rule->list, "readable_roots");
  EXPECT_EQ(denial_of(Operation::kRemove, "/w/pinned").rule->list, "pins");
}

TEST_F(GuardTest, RenamesStayWithinOneMount) {
  for (const char* const name : {"/w/pinned", "/o/other"}) world_.tree.directory(name);
  world_.tree.file("/w/f");
  world_.tree.file("/w/pinned/f");
  world_.writable("/w");
  world_.writable("/o/other");
  world_.show(MountClass::kPin, MountForm::kBind, "/w/pinned");

  EXPECT_EQ(rename_reason("/w/f", "/o/other/f"), "crosses_mounts");
  EXPECT_EQ(rename_reason("/w/f", "/w/pinned/g"), "crosses_mounts");
  EXPECT_EQ(rename_reason("/w/pinned/f", "/w/g"), "crosses_mounts");
  EXPECT_EQ(rename_reason("/w/pinned/f", "/w/pinned/g"), "admitted");
  EXPECT_EQ(rename_reason("/w/f", "/w/g"), "admitted");
}

TEST_F(GuardTest, BothEndsOfARenameAreJudged) {
  world_.tree.directory("/w/ro");
  world_.tree.file("/w/f");
  world_.tree.file("/w/ro/f");
  world_.writable("/w");
  world_.readable("/w/ro");

  EXPECT_EQ(rename_reason("/w/ro/f", "/w/g"), "read_only");
  EXPECT_EQ(rename_reason("/w/f", "/w/ro/g"), "read_only");
  EXPECT_EQ(rename_reason("/w/absent", "/w/g"), "missing");
  EXPECT_EQ(rename_reason("/w/f", "/o/g"), "not_allowed");
}

TEST_F(GuardTest, ARenameThatIsAdmittedHappens) {
  world_.tree.file("/w/f");
  world_.writable("/w");
  const Snapshot snapshot = world_.snapshot();

  auto ends = Guard(snapshot, shown()).judge_rename(world_.tree.at("/w/f"), world_.tree.at("/w/g"));

  ASSERT_TRUE(ends) << ends.error().text;
  EXPECT_TRUE(Landing::rename(ends->first, ends->second, RenameMode::kKeepTarget).has_value());
  EXPECT_TRUE(world_.tree.has("/w/g"));
}

// --- The walk, judged ----------------------------------------------------------------------------

// guard 9.3: 41
TEST_F(GuardTest, ADanglingLinkIsJudgedAtItsTargetAndNothingIsMade) {
  world_.tree.directory("/w/work");
  world_.tree.link("../../o/m", "/w/work/d");
  world_.writable("/w");

  const Denial denial = denial_of(Operation::kWrite, "/w/work/d");
  EXPECT_EQ(denial.reason, "not_allowed");
  EXPECT_EQ(denial.real, world_.tree.at("/o/m"));
  EXPECT_EQ(denial.asked, world_.tree.at("/w/work/d"));
  EXPECT_EQ(reason_of(Operation::kCreate, "/w/work/d"), "not_allowed");
  EXPECT_FALSE(world_.tree.has("/o/m"));
}

// guard 9.3: 42
TEST_F(GuardTest, CreatingThroughADanglingLinkIsJudgedAtItsTarget) {
  world_.tree.directory("/w/in");
  world_.tree.link("in/x", "/w/l");
  world_.writable("/w");

  auto judged = judge(Operation::kCreate, "/w/l");
  ASSERT_TRUE(judged) << judged.error().text;
  EXPECT_TRUE(judged->create(0644).has_value());
  EXPECT_TRUE(world_.tree.has("/w/in/x"));
}

// guard 9.3: 43
TEST_F(GuardTest, AWalkThatFailsIsRefusedByItsOwnReasonWhateverThePolicySays) {
  world_.tree.link("b", "/w/a");
  world_.tree.link("a", "/w/b");
  world_.writable("/w");

  const Denial denial = denial_of(Operation::kRead, "/w/a");
  EXPECT_EQ(denial.reason, "too_many_links");
  EXPECT_EQ(denial.real, std::nullopt);
  EXPECT_EQ(denial.evidence, std::nullopt);
  EXPECT_EQ(denial.rule, std::nullopt);
  EXPECT_NE(denial.stopped_at, std::nullopt);
}

// guard 9.3: 45, 46, 47, 56, 57
TEST_F(GuardTest, TheRealPathIsJudgedAndNotTheSpelling) {
  world_.tree.directory("/w/t/deep");
  world_.tree.directory("/w/real/sub");
  world_.tree.directory("/o/sub");
  for (const char* const name : {"/w/t/deep/f", "/w/real/f", "/w/f", "/o/f"}) {
    world_.tree.file(name);
  }
  world_.tree.link("t/deep", "/w/al");
  world_.tree.link("real/sub", "/w/l");
  world_.tree.link("../o/sub", "/w/out");
  world_.writable("/w");

  EXPECT_EQ(real_of(Operation::kRead, "/w/al/f"), "/w/t/deep/f");
  EXPECT_EQ(real_of(Operation::kRead, "/w/l/../f"), "/w/real/f");
  EXPECT_EQ(real_of(Operation::kRead, "/w/out/../f"), "/o/f");
  EXPECT_EQ(reason_of(Operation::kRead, "/w/out/../f"), "not_allowed");
  EXPECT_EQ(real_of(Operation::kRead, "/w/../w/./f"), "/w/f");
  EXPECT_EQ(reason_of(Operation::kRead, "/w/../w/./f"), "admitted");
  EXPECT_EQ(reason(judge_path(Operation::kRead, "/../.." + world_.tree.at("/w/f"))), "admitted");
}

// guard 9.3: 48, 49, 50, 51
TEST_F(GuardTest, AFinalSlashAsksForADirectory) {
  world_.tree.file("/w/f");
  world_.tree.directory("/w/d");
  world_.tree.link("d", "/w/l");
  world_.writable("/w");

  EXPECT_EQ(reason_of(Operation::kRead, "/w/f/"), "not_a_directory");
  EXPECT_EQ(reason_of(Operation::kList, "/w/l/"), "admitted");
  EXPECT_EQ(reason_of(Operation::kCreate, "/w/n/"), "is_a_directory");
  auto directory = judge(Operation::kCreate, "/w/n");
  ASSERT_TRUE(directory);
  EXPECT_TRUE(directory->mkdir(0755).has_value());
}

// guard 9.3: 54, 55
TEST_F(GuardTest, ProcfsIsRefusedWithItsLimit) {
  world_.tree.link("/proc/self/cwd", "/w/l");
  world_.writable("/w");
  world_.show_at(MountClass::kReadable, MountForm::kReadOnlyBind, path("/proc"));

  const Denial link = denial_of(Operation::kRead, "/w/l/f");
  EXPECT_EQ(link.reason, "magic_link");
  EXPECT_EQ(link.limit, "L25");
  const auto landed = judge_path(Operation::kRead, "/proc/version");
  EXPECT_EQ(reason(landed), "pseudo_fs");
}

// guard 9.3: 60
TEST_F(GuardTest, SomebodyElsesLinkIsRefusedWithItsLimit) {
  if (::geteuid() != 0) GTEST_SKIP() << "it takes the superuser to make somebody else's link";
  world_.tree.directory("/w/st", 01777);
  world_.tree.file("/w/f");
  world_.tree.link("../f", "/w/st/theirs");
  world_.tree.link("../f", "/w/st/ours");
  ASSERT_EQ(::lchown(world_.tree.at("/w/st/theirs").c_str(), 12'345, 12'345), 0);
  world_.writable("/w");

  const Denial denial = denial_of(Operation::kRead, "/w/st/theirs");
  EXPECT_EQ(denial.reason, "link_untrusted");
  EXPECT_EQ(denial.limit, "L24");
  EXPECT_EQ(reason_of(Operation::kRead, "/w/st/ours"), "admitted");
}

// guard 9.3: 61
TEST_F(GuardTest, WhatAnOperationHasNoUseForIsRefusedAfterThePolicy) {
  const Deadline deadline(10);
  for (const std::string place : {"/w", "/o"}) {
    world_.tree.fifo(place + "/fifo");
    world_.tree.file(place + "/f");
    world_.tree.directory(place + "/d");
    world_.tree.socket(place + "/s");
  }
  world_.writable("/w");

  EXPECT_EQ(reason_of(Operation::kRead, "/w/fifo"), "not_regular");
  EXPECT_EQ(reason_of(Operation::kWrite, "/w/s"), "not_regular");
  EXPECT_EQ(reason_of(Operation::kMountReadOnly, "/w/fifo"), "not_regular");
  EXPECT_EQ(reason_of(Operation::kMountReadOnly, "/w/s"), "admitted");
  EXPECT_EQ(reason_of(Operation::kRead, "/w/d"), "is_a_directory");
  EXPECT_EQ(reason_of(Operation::kWrite, "/w/d"), "is_a_directory");
  EXPECT_EQ(reason_of(Operation::kExecute, "/w/d"), "is_a_directory");
  EXPECT_EQ(reason_of(Operation::kList, "/w/f"), "not_a_directory");
  EXPECT_EQ(reason_of(Operation::kRead, "/w/none"), "missing");
  EXPECT_EQ(reason_of(Operation::kWrite, "/w/none"), "missing");
  EXPECT_EQ(reason_of(Operation::kRemove, "/w/none"), "missing");
  const Denial exists = denial_of(Operation::kCreate, "/w/f");
  EXPECT_EQ(exists.reason, "system");
  EXPECT_EQ(exists.error, EEXIST);
  EXPECT_EQ(exists.real, world_.tree.at("/w/f"));
  EXPECT_EQ(exists.evidence, std::nullopt) << "the policy has nothing against it";

  for (const char* const name : {"/o/fifo", "/o/d", "/o/none"}) {
    EXPECT_EQ(reason_of(Operation::kRead, name), "not_allowed") << name;
  }
}

// guard 9.3: 62, 63
TEST_F(GuardTest, RemovingALinkIsAboutTheLink) {
  world_.tree.file("/w/f");
  world_.tree.link("../o/f", "/w/l");
  world_.tree.link("nope", "/w/dangling");
  world_.writable("/w");

  auto judged = judge(Operation::kRemove, "/w/l");
  ASSERT_TRUE(judged) << judged.error().text;
  EXPECT_EQ(judged->kind(), ObjectKind::kLink);
  EXPECT_TRUE(judged->remove().has_value());
  EXPECT_EQ(reason_of(Operation::kRemove, "/w/dangling"), "admitted");
}

// guard 9.3: 64
TEST_F(GuardTest, TheRootIsListedWhereItIsShownAndIsNothingToRemove) {
  EXPECT_EQ(reason(judge_path(Operation::kList, "/")), "not_allowed");
  world_.show_at(MountClass::kWritable, MountForm::kBind, path("/"));

  EXPECT_EQ(reason(judge_path(Operation::kList, "/")), "admitted");
  EXPECT_EQ(reason(judge_path(Operation::kMountReadOnly, "/")), "admitted");
  EXPECT_EQ(reason(judge_path(Operation::kRead, "/")), "is_a_directory");
  for (const Operation operation :
       {Operation::kRemove, Operation::kRenameFrom, Operation::kCreate}) {
    EXPECT_EQ(reason(judge_path(operation, "/")), "bad_path");
  }
}

// guard 9.3: 58, 59
TEST_F(GuardTest, ATextThatIsNoPathIsABadPath) {
  for (const std::string& text : {std::string(), std::string("w/f"), std::string("/w/\0f", 5),
                                  '/' + std::string(4'096, 'a')}) {
    const auto judged = judge_path(Operation::kRead, text);
    ASSERT_FALSE(judged);
    EXPECT_EQ(judged.error().reason, "bad_path");
    EXPECT_EQ(judged.error().stopped_at, std::nullopt);
    EXPECT_EQ(judged.error().asked, text);
  }
}

// --- Execution -----------------------------------------------------------------------------------

TEST_F(GuardTest, ExecutingNeedsAReadableViewAndTheTable) {
  for (const char* const name : {"/w/in", "/o/out"}) world_.tree.file(name, "", 0755);
  world_.readable("/w");
  world_.table(false, {world_.file("/w/in"), world_.file("/o/out")}, {});

  EXPECT_EQ(reason_of(Operation::kExecute, "/w/in"), "admitted");
  const Denial unseen = denial_of(Operation::kExecute, "/o/out");
  EXPECT_EQ(unseen.reason, "not_allowed");
  EXPECT_EQ(unseen.hint, "add the path to \"readable_roots\"");
  world_.tree.file("/w/other", "", 0755);
  const Denial silent = denial_of(Operation::kExecute, "/w/other");
  EXPECT_EQ(silent.reason, "not_allowed");
  EXPECT_EQ(silent.evidence, "none");
  EXPECT_EQ(silent.rule, std::nullopt);
  EXPECT_EQ(reason_of(Operation::kRead, "/w/other"), "admitted");
}

TEST_F(GuardTest, AnExcludedProgramsRecordNamesBothRulesAndTheRest) {
  world_.tree.directory("/w/bin");
  world_.tree.file("/w/bin/bash", "", 0755);
  world_.readable("/w");
  world_.table(false, {world_.dir("/w"), world_.dir("/w/bin")},
               {World::bare("bash"), world_.file("/w/bin/bash")});
  world_.table(true, {}, {world_.dir("/w/bin")});

  const Denial denial = denial_of(Operation::kExecute, "/w/bin/bash");
  EXPECT_EQ(denial.source, "guard");
  EXPECT_EQ(denial.op, "execute");
  EXPECT_EQ(denial.reason, "excluded_over_allowance");
  EXPECT_EQ(denial.evidence, "both");
  const DenialRule name = {.dimension = "exec",
                           .layer = 0,
                           .list = "exec.deny",
                           .index = 0,
                           .written = "bash",
                           .real = std::nullopt,
                           .kind = "name",
                           .match = "stored"};
  EXPECT_EQ(denial.rule, name);
  const DenialRule deepest = {.dimension = "exec",
                              .layer = 0,
                              .list = "exec.allow",
                              .index = 1,
                              .written = world_.tree.at("/w/bin"),
                              .real = world_.tree.at("/w/bin"),
                              .kind = "dir",
                              .match = "stored"};
  EXPECT_EQ(denial.overridden, deepest);
  EXPECT_EQ(denial.others, 2u);
  EXPECT_TRUE(denial.text.starts_with("excluded_over_allowance: execute \"")) << denial.text;
  EXPECT_NE(denial.text.find("name \"bash\""), std::string::npos) << denial.text;
}

TEST_F(GuardTest, AnotherSpellingOfAnExcludedProgramIsALimitOnlyWhereItIsAnotherObject) {
  world_.tree.directory("/w/Bin");
  world_.tree.directory("/w/bin");
  world_.tree.file("/w/bin/t", "", 0755);
  world_.readable("/w");
  world_.table(true, {}, {world_.dir("/w/Bin")});

  const Denial other = denial_of(Operation::kExecute, "/w/bin/t");
  EXPECT_EQ(other.rule->match, "folded");
  EXPECT_EQ(other.limit, "L12");

  // One object under both spellings, as a file system that folds case has it.
  std::filesystem::remove_all(world_.tree.at("/w/bin"));
  if (::geteuid() != 0) GTEST_SKIP() << "it takes the superuser to mount";
  world_.tree.directory("/w/bin");
  world_.tree.file("/w/Bin/t", "", 0755);
  const bool mounted = in_private_mounts([&] {
    mount_bind(world_.tree.at("/w/Bin"), world_.tree.at("/w/bin"));
    const Denial same = denial_of(Operation::kExecute, "/w/bin/t");
    EXPECT_EQ(same.rule->match, "folded");
    EXPECT_EQ(same.limit, std::nullopt);
  });
  if (!mounted) LOOM_SKIP_UNLESS_PROMISED("this machine mounts nothing");
}

// --- Pins and publication ------------------------------------------------------------------------

class PinTest : public GuardTest {
 protected:
  void SetUp() override {
    world_.tree.file("/w/launcher", "program", 0755);
    world_.tree.file("/w/f");
    std::filesystem::create_hard_link(world_.tree.at("/w/launcher"), world_.tree.at("/w/h"));
    pins_ = {FileIdentity{.device = 1, .inode = 1}, world_.tree.identity("/w/launcher")};
    world_.writable("/w");
  }
};

// guard 9.4: 74
TEST_F(PinTest, AHardLinkOfAPinIsNotWritten) {
  const Denial denial = denial_of(Operation::kWrite, "/w/h");
  EXPECT_EQ(denial.reason, "pinned");
  EXPECT_EQ(denial.evidence, std::nullopt);
  EXPECT_EQ(denial.rule->dimension, "pin");
  EXPECT_EQ(denial.rule->index, 1u);
  EXPECT_EQ(reason_of(Operation::kMountWritable, "/w/h"), "pinned");
  EXPECT_EQ(reason_of(Operation::kRead, "/w/h"), "admitted");
  EXPECT_EQ(reason_of(Operation::kWrite, "/w/f"), "admitted");
}

TEST_F(PinTest, IsNamedBeforeWhatThePolicySays) {
  world_.policy = {};
  world_.view.erase(world_.view.begin() + 1, world_.view.end());
  EXPECT_EQ(reason_of(Operation::kWrite, "/w/h"), "pinned");
  EXPECT_EQ(reason_of(Operation::kWrite, "/w/f"), "not_allowed");
}

// guard 9.4: 75, 76
TEST_F(PinTest, ThePinsNameIsReplacedAndNeitherRemovedNorRenamedAway) {
  EXPECT_EQ(rename_reason("/w/f", "/w/launcher"), "admitted");
  EXPECT_EQ(rename_reason("/w/launcher", "/w/g"), "pinned");
  EXPECT_EQ(reason_of(Operation::kRemove, "/w/launcher"), "pinned");
  EXPECT_EQ(reason_of(Operation::kRemove, "/w/f"), "admitted");
}

TEST_F(PinTest, AnotherFileWithTheNameIsJudgedAgain) {
  const std::string name = world_.tree.at("/w/f");
  auto harmless = judge(Operation::kWrite, "/w/f");
  ASSERT_TRUE(harmless);
  world_.tree.file("/w/next");
  std::filesystem::rename(world_.tree.at("/w/next"), name);
  EXPECT_TRUE(harmless->write(WriteMode::kTruncate).has_value()) << "judged like the first";

  auto swapped = judge(Operation::kWrite, "/w/f");
  ASSERT_TRUE(swapped);
  std::filesystem::remove(name);
  std::filesystem::create_hard_link(world_.tree.at("/w/launcher"), name);
  EXPECT_EQ(reason(swapped->write(WriteMode::kTruncate)), "raced");
  EXPECT_EQ(world_.tree.text("/w/launcher"), "program");
}

// guard 9.4: 72
TEST_F(GuardTest, PublishingUnderAProtectedPathIsRefusedBeforeThereIsASibling) {
  world_.tree.file("/w/c", "old");
  world_.tree.directory("/w/free");
  world_.writable("/w");
  world_.hidden("/w/c");
  const Snapshot snapshot = world_.snapshot();
  const Guard guard(snapshot, shown());
  const auto target = walk(world_.tree.at("/w/c"), {.leaf = LeafMode::kRefuseLink});
  ASSERT_TRUE(target);

  const auto denial = guard.refusal_of(Operation::kWrite, world_.tree.at("/w/c"), *target);

  ASSERT_TRUE(denial);
  EXPECT_EQ(denial->reason, "excluded_over_allowance");
  const auto absent = walk(world_.tree.at("/w/free/new"), {.leaf = LeafMode::kRefuseLink});
  ASSERT_TRUE(absent);
  EXPECT_EQ(guard.refusal_of(Operation::kWrite, "/w/free/new", *absent), std::nullopt)
      << "what is published may be absent";
  ASSERT_TRUE(publish(*absent, {.content = "new"}).has_value());
  EXPECT_EQ(world_.tree.names("/w/free"), std::set<std::string>{"new"});
}

// guard 9.4: 73
TEST_F(GuardTest, PublishingNeedsNoRightToReadWhatWasThere) {
  world_.tree.directory("/w/open", 0777);
  world_.tree.file("/w/open/c", "old", 0200);
  world_.writable("/w");
  const OrdinaryUser nobody;

  auto target = judge(Operation::kWrite, "/w/open/c");
  ASSERT_TRUE(target) << target.error().text;
  auto before = judge(Operation::kRead, "/w/open/c");
  ASSERT_TRUE(before) << "the policy lets it be read; the kernel does not";
  const auto read = before->read();
  EXPECT_EQ(reason(read), "system");
  EXPECT_EQ(read.error().sys_errno, EACCES);
  EXPECT_TRUE(publish(*target, {.content = "new", .mode = 0644}).has_value());
  EXPECT_EQ(world_.tree.text("/w/open/c"), "new");
}

// --- Who performs it -----------------------------------------------------------------------------

class FloorTest : public GuardTest {
 protected:
  void SetUp() override {
    world_.tree.directory("/o/usr");
    world_.tree.file("/o/usr/f");
    world_.tree.file("/w/f");
    world_.writable("/w");
    world_.show(MountClass::kReadable, MountForm::kReadOnlyBindTry, "/o/usr");
    floor_ = {world_.at("/o/usr")};
  }
};

TEST_F(FloorTest, IsForTheCommandAndNotForTheHelper) {
  EXPECT_EQ(reason(judge(Operation::kRead, "/o/usr/f", Performer::kPayload)), "admitted");
  EXPECT_EQ(reason(judge(Operation::kRead, "/o/usr/f", Performer::kHelper)), "not_allowed");
  EXPECT_EQ(reason(judge(Operation::kWrite, "/w/f", Performer::kHelper)), "admitted");
}

TEST_F(FloorTest, IsForTheHelperToWhereThePolicySaysIt) {
  world_.policy.readable_roots = {world_.at("/o/usr")};
  EXPECT_EQ(reason(judge(Operation::kRead, "/o/usr/f", Performer::kHelper)), "admitted");
  EXPECT_EQ(reason(judge(Operation::kWrite, "/o/usr/f", Performer::kHelper)), "read_only");
}

TEST_F(FloorTest, IsNamedAsWhatItIs) {
  const Denial denial = denial_of(Operation::kWrite, "/o/usr/f");
  EXPECT_EQ(denial.reason, "read_only");
  EXPECT_EQ(denial.rule->list, "floor");
  EXPECT_EQ(denial.rule->written, world_.tree.at("/o/usr"));
}

// --- Where the command writes --------------------------------------------------------------------

TEST_F(GuardTest, TheCommandWritesWhatLiesInItsRegionsOrBelowADirectoryOfThem) {
  for (const char* const name : {"/w/ro", "/o/d"}) world_.tree.directory(name);
  for (const char* const name : {"/w/f", "/w/ro/f", "/o/d/f"}) world_.tree.file(name);
  world_.writable("/w");
  world_.readable("/w/ro");
  world_.readable("/o");

  EXPECT_TRUE(payload_writes("/w/f"));
  EXPECT_TRUE(payload_writes("/w"));
  EXPECT_TRUE(payload_writes("/w/ro/f")) << "the directory that holds it can be written";
  EXPECT_FALSE(payload_writes("/o/d/f"));
  EXPECT_FALSE(payload_writes("/o"));
}

TEST_F(GuardTest, ARegionOfUnknownIdentityIsWrittenByItsName) {
  world_.tree.directory("/w/ro");
  world_.tree.file("/w/ro/f");
  world_.tree.file("/o/f");
  world_.writable("/w");
  world_.readable("/w/ro");
  world_.view.at(1).identity = {};

  EXPECT_TRUE(payload_writes("/w/ro/f"));
  EXPECT_FALSE(payload_writes("/o/f"));
}

TEST_F(GuardTest, ThePrivateScratchIsNothingThatTheCommandWritesOnTheHost) {
  world_.tree.directory("/o/tmp");
  world_.tree.file("/o/tmp/f");
  world_.show(MountClass::kScratchTmpfs, MountForm::kTmpfs, "/o/tmp");

  EXPECT_FALSE(payload_writes("/o/tmp/f"));
  world_.writable("/o/tmp");
  EXPECT_TRUE(payload_writes("/o/tmp/f"));
}

TEST_F(GuardTest, TheCommandWritesARegionUnderEveryNameThatItHas) {
  if (::geteuid() != 0) GTEST_SKIP() << "it takes the superuser to mount";
  for (const char* const name : {"/w/sub", "/o/w", "/o/sub", "/o/other"}) {
    world_.tree.directory(name);
  }
  world_.tree.file("/w/f");
  world_.tree.file("/w/sub/f");
  world_.tree.file("/o/other/f");
  world_.writable("/w");

  const bool mounted = in_private_mounts([&] {
    mount_bind(world_.tree.at("/w"), world_.tree.at("/o/w"));
    mount_bind(world_.tree.at("/w/sub"), world_.tree.at("/o/sub"));

    EXPECT_TRUE(payload_writes("/o/w/f")) << "passed through the region itself";
    EXPECT_FALSE(payload_writes("/o/other/f"));
    EXPECT_FALSE(payload_writes("/o/sub/f")) << "only the table of mounts tells";
    mounts_ = {{.point = path("/"), .root = path("/"), .device = "0:1"},
               {.point = world_.at("/o/sub"), .root = world_.at("/w/sub"), .device = "0:1"}};
    EXPECT_TRUE(payload_writes("/o/sub/f"));
    EXPECT_FALSE(payload_writes("/o/other/f"));
  });
  if (!mounted) LOOM_SKIP_UNLESS_PROMISED("this machine mounts nothing");
}

// --- Other names of one object -------------------------------------------------------------------

// guard 9.7: 130
TEST_F(GuardTest, AProtectedFileIsExcludedUnderItsNameInABindMount) {
  if (::geteuid() != 0) GTEST_SKIP() << "it takes the superuser to mount";
  world_.tree.directory("/o/x");
  world_.tree.directory("/o/y");
  world_.tree.file("/o/x/k");
  world_.tree.file("/o/x/free");
  const bool mounted = in_private_mounts([&] {
    mount_bind(world_.tree.at("/o/x"), world_.tree.at("/o/y"));
    world_.readable("/o/y");
    world_.hidden("/o/x/k");

    const Denial denial = denial_of(Operation::kRead, "/o/y/k");
    EXPECT_EQ(denial.reason, "excluded_over_allowance");
    EXPECT_EQ(denial.rule->match, "object");
    EXPECT_NE(denial.text.find("same object"), std::string::npos) << denial.text;
    EXPECT_EQ(reason_of(Operation::kRead, "/o/y/free"), "admitted");
  });
  if (!mounted) LOOM_SKIP_UNLESS_PROMISED("this machine mounts nothing");
}

// guard 9.7: 131
TEST_F(GuardTest, AnExcludedDirectoryIsExcludedUnderItsNameInABindMount) {
  if (::geteuid() != 0) GTEST_SKIP() << "it takes the superuser to mount";
  world_.tree.directory("/o/x/bin");
  world_.tree.directory("/o/y");
  world_.tree.file("/o/x/bin/t", "", 0755);
  world_.tree.file("/o/x/t", "", 0755);
  const bool mounted = in_private_mounts([&] {
    mount_bind(world_.tree.at("/o/x"), world_.tree.at("/o/y"));
    world_.readable("/o/y");
    world_.table(false, {world_.dir("/o/y")}, {world_.dir("/o/x/bin")});

    const Denial denial = denial_of(Operation::kExecute, "/o/y/bin/t");
    EXPECT_EQ(denial.reason, "excluded_over_allowance");
    EXPECT_EQ(denial.rule->match, "object");
    EXPECT_EQ(reason_of(Operation::kExecute, "/o/y/t"), "admitted");
    EXPECT_EQ(reason_of(Operation::kRead, "/o/y/bin/t"), "admitted") << "hides nothing";
  });
  if (!mounted) LOOM_SKIP_UNLESS_PROMISED("this machine mounts nothing");
}

// The plan masks the whole point of a mount that shows a part of a protected directory.
TEST_F(GuardTest, WhatTheViewMasksIsExcludedThoughNeitherNameNorObjectSaysSo) {
  world_.tree.directory("/x/sub");
  world_.tree.directory("/o/m");
  world_.tree.file("/o/m/f", "", 0755);
  world_.tree.file("/o/file");
  world_.tree.file("/o/free");
  world_.writable("/o");
  world_.hidden("/w/else");
  world_.hidden("/x");
  EXPECT_EQ(reason_of(Operation::kRead, "/o/m/f"), "admitted") << "control: no mask yet";

  for (const char* const name : {"/o/m", "/o/file"}) {
    world_.show(MountClass::kProtected, MountForm::kClosedDirectory, name);
    world_.view.back().written = world_.at("/x");
  }

  const Denial denial = denial_of(Operation::kRead, "/o/m/f");
  EXPECT_EQ(denial.reason, "excluded_over_allowance");
  EXPECT_EQ(denial.rule->list, "protected");
  EXPECT_EQ(denial.rule->index, 1u);
  EXPECT_EQ(denial.rule->written, world_.tree.at("/x"));
  EXPECT_EQ(denial.rule->match, "object");
  EXPECT_EQ(denial.overridden->list, "writable_roots");
  for (const Operation operation : kReads) {
    EXPECT_EQ(reason_of(operation, "/o/file"), "excluded_over_allowance");
    EXPECT_EQ(reason_of(operation, "/o/m/f"), "excluded_over_allowance");
  }
  for (const Operation operation : kWrites) {
    EXPECT_EQ(reason_of(operation, "/o/file"), "excluded_over_allowance");
  }
  EXPECT_EQ(reason_of(Operation::kList, "/o/m"), "excluded_over_allowance");
  EXPECT_EQ(reason_of(Operation::kCreate, "/o/m/new"), "excluded_over_allowance");
  EXPECT_EQ(reason_of(Operation::kRead, "/o/free"), "admitted");
}

TEST_F(GuardTest, AMaskThatALaterMountCoversHidesNothing) {
  world_.tree.directory("/o/m");
  world_.tree.file("/o/m/f");
  world_.readable("/o");
  world_.hidden("/w/x");
  world_.show(MountClass::kProtected, MountForm::kClosedDirectory, "/o/m");
  world_.view.back().written = world_.at("/w/x");
  EXPECT_EQ(reason_of(Operation::kRead, "/o/m/f"), "excluded_over_allowance");

  world_.mounted("/o/m", false);

  EXPECT_EQ(reason_of(Operation::kRead, "/o/m/f"), "admitted");
}

// The jail has a directory there, made for the launch and pinned.
TEST_F(GuardTest, NothingIsCreatedInPlaceOfADirectoryThatIsMadeForAnAbsentProtectedPath) {
  world_.writable("/w");
  world_.hidden("/w/a/key");
  world_.show(MountClass::kPin, MountForm::kBind, "/w/a");
  world_.readable("/w/optional");

  const Denial denial = denial_of(Operation::kCreate, "/w/a");
  EXPECT_EQ(denial.reason, "system");
  EXPECT_EQ(denial.error, EEXIST);
  EXPECT_EQ(reason_of(Operation::kCreate, "/w/b"), "admitted");
  EXPECT_EQ(reason_of(Operation::kCreate, "/w/optional"), "admitted")
      << "nothing was there to show";

  world_.tree.directory("/w/a", kIntermediateMode);
  world_.tree.directory("/w/a/key", kLeafMode);
  EXPECT_EQ(reason_of(Operation::kCreate, "/w/a"), "system");
}

TEST_F(GuardTest, AMountPointIsOneUnderEveryNameOfItsDirectory) {
  if (::geteuid() != 0) GTEST_SKIP() << "it takes the superuser to mount";
  world_.tree.directory("/w/ro");
  world_.tree.directory("/w/plain");
  world_.tree.directory("/o/y");
  const bool mounted = in_private_mounts([&] {
    mount_bind(world_.tree.at("/w"), world_.tree.at("/o/y"));
    world_.writable("/w");
    world_.readable("/w/ro");
    world_.writable("/o/y");

    EXPECT_EQ(reason_of(Operation::kRemove, "/o/y/ro"), "mount_point");
    EXPECT_EQ(reason_of(Operation::kRemove, "/o/y/plain"), "admitted");

    // The jail's own root has the name of /w, and not the directory that the host has it in.
    mount_bind(world_.tree.at("/"), world_.tree.at("/w/plain"));
    EXPECT_EQ(reason_of(Operation::kRenameFrom, "/w/plain/w"), "admitted");
  });
  if (!mounted) LOOM_SKIP_UNLESS_PROMISED("this machine mounts nothing");
}

// --- Records -------------------------------------------------------------------------------------

TEST_F(GuardTest, ARecordOfAProtectedPathSaysEverythingAboutIt) {
  world_.tree.file("/o/key");
  world_.tree.link("../o/key", "/w/l");
  world_.tree.directory("/w/.ssh");
  world_.readable("/o");
  world_.policy.protected_paths = {world_.at("/w/.ssh"), world_.at("/w/l"), world_.at("/o/KEY")};

  const Denial denial = denial_of(Operation::kRead, "/w/l");

  const DenialRule rule = {.dimension = "fs",
                           .layer = 0,
                           .list = "protected",
                           .index = 1,
                           .written = world_.tree.at("/w/l"),
                           .real = world_.tree.at("/o/key"),
                           .kind = "file",
                           .match = "stored"};
  EXPECT_EQ(denial.rule, rule);
  EXPECT_EQ(denial.others, 1u);
  const DenialRule root = {.dimension = "fs",
                           .layer = 0,
                           .list = "readable_roots",
                           .index = 0,
                           .written = world_.tree.at("/o"),
                           .real = world_.tree.at("/o"),
                           .kind = "root",
                           .match = "stored"};
  EXPECT_EQ(denial.overridden, root);
  EXPECT_EQ(denial.text, "excluded_over_allowance: read \"" + world_.tree.at("/w/l") +
                             "\", really \"" + world_.tree.at("/o/key") + "\": protected[1] \"" +
                             world_.tree.at("/w/l") + "\", really \"" + world_.tree.at("/o/key") +
                             "\", hides it; nothing reopens a protected path, and so "
                             "readable_roots[0] \"" +
                             world_.tree.at("/o") + "\" does not help");
}

TEST_F(GuardTest, TheLayerOfThePathsIsTheOneThatIsInForce) {
  world_.tree.file("/w/key");
  world_.tree.file("/w/f");
  world_.readable("/w");
  world_.hidden("/w/key");
  const Snapshot inline_policy = Snapshot::take(world_.policy, world_.exec, world_.search, 1);
  const Guard guard(inline_policy, shown());

  const auto hidden = guard.judge(Operation::kRead, world_.tree.at("/w/key"));
  ASSERT_FALSE(hidden);
  EXPECT_EQ(hidden.error().rule->layer, 1u);
  const auto written = guard.judge(Operation::kWrite, world_.tree.at("/w/f"));
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().rule->layer, 1u);
}

TEST_F(GuardTest, ARecordsTextIsValidWhateverTheNamesAre) {
  world_.tree.file("/w/\xff\n\"");
  const Denial denial = denial_of(Operation::kRead, "/w/\xff\n\"");
  EXPECT_EQ(denial.asked, world_.tree.at("/w/\xff\n\"")) << "the bytes as they are";
  EXPECT_NE(denial.text.find("\\xff\\x0a\\x22"), std::string::npos) << denial.text;
}

TEST_F(GuardTest, AWalksRecordSaysWhereItStopped) {
  world_.tree.file("/w/f");
  world_.writable("/w");
  const Denial denial = denial_of(Operation::kRead, "/w/f/x/y");
  EXPECT_EQ(denial.reason, "not_a_directory");
  EXPECT_EQ(denial.error, ENOTDIR);
  const std::string place = world_.tree.at("/w/f");
  EXPECT_EQ(denial.stopped_at,
            static_cast<std::uint64_t>(std::count(place.begin(), place.end(), '/') - 1));
}

TEST_F(GuardTest, EveryOperationHasItsName) {
  world_.tree.file("/o/f");
  const std::vector<std::pair<Operation, std::string>> names = {
      {Operation::kRead, "read"},
      {Operation::kList, "list"},
      {Operation::kWrite, "write"},
      {Operation::kCreate, "create"},
      {Operation::kRemove, "remove"},
      {Operation::kRenameFrom, "rename_from"},
      {Operation::kRenameTo, "rename_to"},
      {Operation::kExecute, "execute"},
      {Operation::kMountReadOnly, "mount_source"},
      {Operation::kMountWritable, "mount_source"}};
  for (const auto& [operation, name] : names) {
    EXPECT_EQ(denial_of(operation, "/o/f").op, name);
    EXPECT_NE(denial_of(operation, "/o/f").text.find(": " + name + " \""), std::string::npos);
  }
}

}  // namespace
}  // namespace loom::guard
