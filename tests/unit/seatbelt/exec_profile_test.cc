#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "backends/seatbelt/exec_part.h"
#include "mac_fixture.h"

namespace loom::seatbelt::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Launched launched(const Mac& mac, ExecRules rules) {
  return {mac, mac.request(work_policy(), std::move(rules))};
}

bool runs(const Launched& run, const std::string& real) {
  return run.jail().answer(Operation::kExec, real) == Answer::kAllowed;
}

TEST(SeatbeltExecTest, VersionTwoLetsEverythingRunThatCanBeRead) {
  const Launched run(Mac(), work_policy());
  EXPECT_THAT(run.profile(), HasSubstr("(allow process-exec)\n"));
  EXPECT_THAT(run.profile(), Not(HasSubstr("STAGE2_")));
  EXPECT_TRUE(runs(run, "/bin/sh"));
}

TEST(SeatbeltExecTest, WhatConfinesHasNoUnconditionalAllowance) {
  const Launched run = launched(Mac(), exec_rules({exec_file("/bin/sh")}));
  EXPECT_THAT(run.profile(), Not(HasSubstr("(allow process-exec)")));
  EXPECT_TRUE(runs(run, "/bin/sh"));
  EXPECT_TRUE(runs(run, "/Library/Apple/usr/libexec/oah/translate"));
  EXPECT_FALSE(runs(run, "/bin/cat"));
  // A file's allowance is of the file, a directory's of what is in it.
  EXPECT_FALSE(runs(run, "/bin/sh/x"));
  EXPECT_TRUE(runs(launched(Mac(), exec_rules({exec_directory("/bin")})), "/bin/x"));
}

TEST(SeatbeltExecTest, EveryAllowanceIsRendered) {
  const Launched run = launched(
      Mac(), exec_rules({exec_directory("/b"), exec_file("/a"), exec_directory("/private/var/x")}));
  EXPECT_THAT(run.defined("EXEC_ALLOWED_"), ElementsAre("/a", "/b", "/private/var/x", "/var/x"));
  EXPECT_TRUE(run.jail().answer(Operation::kReadData, "/b/c") == Answer::kAllowed);
  EXPECT_TRUE(run.jail().answer(Operation::kReadMetadata, "/private/var") == Answer::kAllowed);
  EXPECT_THAT(run.audit().extras, Contains("seatbelt-exec:allow=3,deny=0"));
}

TEST(SeatbeltExecTest, ExclusionsFollowAllAllowancesAndComeBeforeWhatIsProtected) {
  const std::string profile =
      launched(Mac(), exec_rules({exec_directory("/x"), exec_file("/x/y/t")},
                                 {exec_directory("/x/y"), exec_name("curl")}, paths({"/bin/sh"})))
          .profile();
  const std::size_t last_allowance = profile.rfind("(allow process-exec (literal (param \"EXEC_");
  const std::size_t first_exclusion = profile.find("(deny process-exec");
  ASSERT_NE(last_allowance, std::string::npos);
  EXPECT_LT(last_allowance, first_exclusion);
  EXPECT_LT(profile.rfind("(deny process-exec"), profile.find("(deny file-read* (literal"));
  EXPECT_EQ(profile.find("(allow", profile.find("(deny file-read* (literal")), std::string::npos);
}

// Stage 2 is executed when the profile is in force.
TEST(SeatbeltExecTest, Stage2RunsWhateverATableSays) {
  const Launched run =
      launched(Mac(), exec_rules({exec_any()}, {exec_directory("/usr/local"), exec_name("true")}));
  EXPECT_TRUE(runs(run, kStage2Path));
  EXPECT_FALSE(runs(run, "/usr/local/libexec/loom-exec/other"));
  EXPECT_TRUE(runs(launched(Mac(), exec_rules({})), kStage2Path));
}

TEST(SeatbeltExecTest, ExclusionsMatchInAnyCaseAndBothKinds) {
  const Launched run =
      launched(Mac(), exec_rules({exec_any()}, {exec_file("/x/Tool"), exec_directory("/x/Tool")}));
  EXPECT_FALSE(runs(run, "/x/tool"));
  EXPECT_FALSE(runs(run, "/X/TOOL/in"));
  EXPECT_TRUE(runs(run, "/x/tools"));
  EXPECT_THAT(run.audit().extras, Contains("seatbelt-exec:allow=1,deny=2"));
}

TEST(SeatbeltExecTest, ExclusionsDenyNoReading) {
  const Launched run = launched(Mac(), exec_rules({exec_any()}, {exec_file("/bin/sh")}));
  EXPECT_FALSE(runs(run, "/bin/sh"));
  EXPECT_TRUE(run.jail().reads("/bin/sh"));
}

TEST(SeatbeltExecTest, APatternIsOfTheLastComponentAndOfThisNameOnly) {
  const std::string name = "a.b+(c)[d]{e}|^$*?\\f";
  const Launched run = launched(Mac(), exec_rules({exec_any()}, {exec_name(name)}));
  EXPECT_FALSE(runs(run, "/bin/" + name));
  EXPECT_TRUE(runs(run, "/bin/axb+(c)[d]{e}|^$*?\\f"));
  EXPECT_TRUE(runs(run, "/bin/x" + name));
  EXPECT_TRUE(runs(run, "/bin/" + name + "/x"));
  EXPECT_THAT(run.profile(), HasSubstr(R"((regex #"/a\.b\+\(c\)\[d\]\{e\}\|\^\$\*\?\\f$"))"));
}

TEST(SeatbeltExecTest, ANameThatNoProfileCanExpressIsRefused) {
  const Mac mac;
  for (const char* const name : {"a\"b", "a\xff"}) {
    const Error error =
        refusal(mac.request(work_policy(), exec_rules({exec_any()}, {exec_name(name)})));
    EXPECT_EQ(error.code, ErrorCode::kUnsupported);
    EXPECT_THAT(error.message, HasSubstr("denied name"));
  }
  EXPECT_TRUE(exec_part(exec_rules({exec_any()}, {exec_name("caf\xc3\xa9")})).has_value());
}

TEST(SeatbeltExecTest, RepeatedRulesCountOnce) {
  const auto part = exec_part(exec_rules({exec_file("/tmp/a"), exec_file("/tmp/a")},
                                         {exec_name("x"), exec_name("x"), exec_file("/tmp/a")}));
  ASSERT_TRUE(part.has_value());
  EXPECT_EQ(part->allow_count, 1U);
  EXPECT_EQ(part->deny_count, 2U);
  EXPECT_EQ(part->denied.size(), 2U);  // both spellings
}

TEST(SeatbeltExecTest, AllowancesDoNotShowTheWholeHost) {
  const Launched run = launched(Mac(), exec_rules({exec_directory("/"), exec_file("/bin/sh")}));
  EXPECT_FALSE(run.jail().reads("/Users/me/.ssh/id"));
  EXPECT_FALSE(runs(run, "/bin/cat"));
}

TEST(SeatbeltExecTest, ProtectedProgramsCannotBeRead) {
  Policy policy = work_policy();
  policy.protected_paths = paths({"/x/hidden"});
  const Mac mac = Mac().file("/x/hidden").file("/x/a");
  const Launched run(mac, mac.request(policy, exec_rules({exec_directory("/x")})));
  EXPECT_FALSE(run.jail().runs("/x/hidden"));
  EXPECT_TRUE(run.jail().runs("/x/a"));
}

// The plan with the program must show what the plan without it showed.
TEST(SeatbeltExecTest, SupportChangesNothingOfTheView) {
  const Mac mac;
  const Launched before(mac, mac.request(work_policy(), exec_rules({exec_file("/x/s")})));
  const Launched after(
      mac, mac.request(work_policy(), exec_rules({exec_file("/x/s")}, {}, paths({"/bin/sh"}))));
  EXPECT_EQ(before.plan().view, after.plan().view);
  EXPECT_NE(before.profile(), after.profile());
}

TEST(SeatbeltExecTest, WhatMayRunIsShown) {
  const Mac mac = Mac().file("/x/a").file("/Users/me/work/tool");
  const Launched run = launched(mac, exec_rules({exec_directory("/x"), exec_file("/bin/sh"),
                                                 exec_file("/Users/me/work/tool")}));
  std::vector<std::string> shown;
  for (const MountOperation& operation : run.plan().view) {
    if (operation.mount_class == MountClass::kExecShown) shown.push_back(operation.region.str());
  }
  EXPECT_THAT(shown, ElementsAre("/x"));
  EXPECT_TRUE(run.jail().writes("/Users/me/work/tool"));
}

}  // namespace
}  // namespace loom::seatbelt::test
