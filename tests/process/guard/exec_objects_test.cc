#include "guard/exec_objects.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "guard_support.h"
#include "lowering_support.h"
#include "tests/support/promised.h"

namespace loom::guard {
namespace {

using namespace std::chrono_literals;
using law::Default;

class ExecObjectsTest : public LoweringTest {
 protected:
  // Files and directories, "/w/d/" being one of the latter.
  void make(const std::vector<std::string>& names) const {
    for (const std::string& name : names) {
      if (name.ends_with('/')) {
        tree_.directory(name.substr(0, name.size() - 1));
      } else {
        tree_.file(name, "#!", 0755);
      }
    }
  }
};

// ---- whole directories and lists ----------------------------------------------------------------

// guard 9.6: 104, as far as rules go
TEST_F(ExecObjectsTest, ADirectoryWithNothingExcludedInItIsOneRule) {
  make({"/w/a", "/w/b", "/w/sub/", "/w/sub/c", "/o/x"});

  const Lowered got = lower(table({"+dir /w"}), {readable("/w"), readable("/o")});

  EXPECT_EQ(got.text(), "/w/");
  EXPECT_EQ(got.listed, 0U);
}

// guard 9.6: 105
TEST_F(ExecObjectsTest, WhatLeadsToAnExcludedFileIsListedAndTheRestIsWhole) {
  make({"/w/a", "/w/s/", "/w/s/f", "/w/sub/", "/w/sub/h", "/o/sh"});

  const Lowered got =
      lower(table({"+dir /w", "-file /w/s/f", "+file /o/sh"}), {readable("/w"), readable("/o")});

  EXPECT_EQ(got.text(), "/w/a /w/sub/ /o/sh");
  EXPECT_EQ(got.listed, 2U);
}

TEST_F(ExecObjectsTest, AnExcludedDirectoryIsLeftOutWithAllThatIsAllowedInIt) {
  make({"/w/a", "/w/bin/", "/w/bin/t", "/w/bin/deep/", "/w/bin/deep/u", "/w/z/"});
  const std::vector<Shown> shown = {readable("/w")};

  EXPECT_EQ(lower(table({"+dir /w", "-dir /w/bin"}), shown).text(), "/w/a /w/z/");
  EXPECT_EQ(
      lower(table({"+dir /w", "+dir /w/bin/deep", "+file /w/bin/t", "-dir /w/bin"}), shown).text(),
      "/w/a /w/z/");
  EXPECT_EQ(lower(table({"+dir /w/bin", "-dir /w"}), shown).text(), "");
}

// guard 9.6: 106
TEST_F(ExecObjectsTest, AnotherSpellingOfAnExcludedNameIsLeftOutToo) {
  make({"/w/X", "/w/y", "/w/D/", "/w/D/t", "/w/d/", "/w/d/t"});

  EXPECT_EQ(lower(table({"+dir /w", "-file /w/x"}), {readable("/w")}).text(), "/w/D/ /w/d/ /w/y");
  EXPECT_EQ(lower(table({"+dir /w", "-dir /w/d"}), {readable("/w")}).text(), "/w/X /w/y");
  EXPECT_EQ(lower(table({"+dir /w", "-file /w/d/t"}), {readable("/w")}).text(), "/w/X /w/y")
      << "/w/D leads to another spelling of the file";
}

// guard 9.6: 109
TEST_F(ExecObjectsTest, WhereAnAbsentNameIsExcludedTheDirectoryIsListed) {
  make({"/w/good", "/w/d/"});
  const std::vector<Shown> shown = {writable("/w")};

  EXPECT_EQ(lower(table({"+dir /w", "-file /w/evil"}), shown).text(), "/w/d/ /w/good");
  EXPECT_EQ(lower(table({"+dir /w", "-file /w/d/none/evil"}), shown).text(), "/w/good");
  EXPECT_EQ(lower(table({"+dir /w", "-dir /w/none"}), shown).text(), "/w/d/ /w/good");
}

// guard 9.6: 124
TEST_F(ExecObjectsTest, OnlyRegularFilesAndDirectoriesAreRulesAndNoLinkIs) {
  make({"/w/t", "/w/q", "/o/t", "/o/d/"});
  tree_.link("../o/t", "/w/tool");
  tree_.link("../o/d", "/w/linked");
  tree_.link("nowhere", "/w/dangling");
  tree_.fifo("/w/fifo");
  tree_.socket("/w/socket");

  const Lowered got = lower(table({"+dir /w", "-file /w/q"}), {readable("/w"), readable("/o")});

  EXPECT_EQ(got.text(), "/w/t");
}

// guard 9.6: 117
TEST_F(ExecObjectsTest, AnotherHardLinkOfAnExcludedFileIsARule) {
  make({"/w/b"});
  std::filesystem::create_hard_link(tree_.at("/w/b"), tree_.at("/w/h"));

  EXPECT_EQ(lower(table({"+dir /w", "-file /w/b"}), {readable("/w")}).text(), "/w/h");
}

// guard 9.6: 123
TEST_F(ExecObjectsTest, ADirectoryThatCannotBeListedIsAdmittedNowhere) {
  make({"/w/a", "/w/d/", "/w/d/t", "/w/d/u", "/w/e/"});
  ASSERT_EQ(::chmod(tree_.at("/w/d").c_str(), 0311), 0);
  const law::Table excluding = table({"+dir /w", "-file /w/d/u"});
  const law::Table allowing = table({"+dir /w"});
  const OrdinaryUser user;
  if (::geteuid() == 0) GTEST_SKIP() << "the superuser can list every directory";

  EXPECT_EQ(lower(excluding, {readable("/w")}).text(), "/w/a /w/e/");
  EXPECT_EQ(lower(allowing, {readable("/w")}).text(), "/w/") << "where nothing is to be listed";
}

TEST_F(ExecObjectsTest, AnAllowanceThatHoldsNowhereIsNotOpened) {
  make({"/w/d/", "/w/f", "/w/a"});
  const law::Table dead =
      table({"+dir /w/d", "-dir /w/d", "+file /w/f", "-file /w/f", "+file /w/a"});
  std::filesystem::remove(tree_.at("/w/d"));
  std::filesystem::remove(tree_.at("/w/f"));
  tree_.link("../o", "/w/d");
  tree_.link("../o/f", "/w/f");

  const Lowered got = lower(dead, {readable("/w")});

  EXPECT_EQ(got.text(), "/w/a") << "and no link refuses the launch";
  EXPECT_EQ(got.listed, 0U);
}

TEST_F(ExecObjectsTest, TwoTablesWithTheirRulesInAnotherOrderGiveTheSame) {
  make({"/w/a", "/w/s/", "/w/s/f", "/w/s/g", "/w/sub/", "/o/x", "/o/y"});
  const std::vector<Shown> shown = {readable("/w"), readable("/o")};

  const Lowered one =
      lower(table({"+dir /w", "+dir /o", "-file /w/s/f", "-file /o/x", "-name y"}), shown);
  const Lowered other =
      lower(table({"-name y", "-file /o/x", "-file /w/s/f", "+dir /o", "+dir /w"}), shown);

  EXPECT_EQ(one.text(), "/w/a /w/s/g /w/sub/");
  EXPECT_EQ(std::set(one.rules.begin(), one.rules.end()),
            std::set(other.rules.begin(), other.rules.end()));
}

// ---- roots --------------------------------------------------------------------------------------

TEST_F(ExecObjectsTest, WithEverythingAllowedTheRootsAreWhatTheViewBindsFromTheHost) {
  make({"/w/a", "/w/bad", "/o/x", "/e/", "/e/y", "/tool"});

  const std::vector<Shown> shown = {readable("/o"), writable("/w"), readable("/tool"),
                                    scratch("/s")};

  EXPECT_EQ(lower(table({"-file /w/bad"}, Default::kAllow), shown).text(), "/o/ /tool /w/a");
  EXPECT_EQ(lower(table({"-file /tool"}, Default::kAllow), shown).text(), "/o/ /w/");
}

// guard 9.6: 116
TEST_F(ExecObjectsTest, ARootInsideAnExcludedDirectoryIsNone) {
  make({"/w/y/", "/w/y/w/", "/w/y/w/t", "/o/x"});
  const std::vector<Shown> shown = {readable("/o"), writable("/w/y/w")};

  EXPECT_EQ(lower(table({"-dir /w/y"}, Default::kAllow), shown).text(), "/o/");
  EXPECT_EQ(lower(table({"-dir /w/z"}, Default::kAllow), shown).text(), "/o/ /w/y/w/");
}

// guard 9.6: 112
TEST_F(ExecObjectsTest, WhatIsShownInsideAnAllowedDirectoryThatIsNotShownHasARuleOfItsOwn) {
  make({"/w/b/", "/w/b/t", "/w/c/"});

  EXPECT_EQ(lower(table({"+dir /w"}), {readable("/w/b")}).text(), "/w/ /w/b/");
  EXPECT_EQ(lower(table({"+dir /w"}), {readable("/w"), writable("/w/b")}).text(), "/w/")
      << "a rule holds for what is mounted inside";
  EXPECT_EQ(lower(table({"+dir /w"}), {readable("/w"), masked("/w/b"), writable("/w/b/t")}).text(),
            "/w/ /w/b/t")
      << "there is something of the jail's own in between";
}

TEST_F(ExecObjectsTest, ABindInsideAListedDirectoryIsGoneThroughOnce) {
  make({"/w/a", "/w/s/", "/w/s/f", "/w/s/g", "/w/s/t/"});
  const std::vector<Shown> shown = {readable("/w"), writable("/w/s"), writable("/w/s/t")};

  const Lowered allowed = lower(table({"+dir /w", "-file /w/s/f"}), shown);
  const Lowered everything = lower(table({"-file /w/s/f"}, Default::kAllow), shown);

  EXPECT_EQ(allowed.text(), "/w/a /w/s/g /w/s/t/");
  EXPECT_EQ(allowed.listed, 2U);
  EXPECT_EQ(everything.text(), allowed.text());
}

// /bin of a machine where that is a link to usr/bin: the jail shows it under both names, and no
// rule on /usr holds under the other.
TEST_F(ExecObjectsTest, WhatIsShownUnderASecondNameHasARuleOfItsOwn) {
  make({"/w/usr/", "/w/usr/bin/", "/w/usr/bin/t", "/w/usr/lib/"});
  tree_.link("usr/bin", "/w/bin");
  const std::vector<Shown> by_link = {readable("/w/bin"), readable("/w/usr")};
  const std::vector<Shown> by_writing = {readable("/w/usr"), readable("/w/usr/bin", "/w/bin")};

  for (const std::vector<Shown>& shown : {by_link, by_writing}) {
    EXPECT_EQ(lower(table({"+dir /w/usr"}), shown).text(), "/w/usr/ /w/usr/bin/");
    EXPECT_EQ(lower(table({"+dir /w/usr", "-file /w/none"}, Default::kAllow), shown).text(),
              "/w/usr/ /w/usr/bin/");
    EXPECT_EQ(lower(table({"+dir /w/usr", "-file /w/usr/bin/x"}), shown).text(),
              "/w/usr/bin/t /w/usr/lib/");
    EXPECT_EQ(lower(table({"+dir /w/usr/lib"}), shown).text(), "/w/usr/lib/");
  }
}

TEST_F(ExecObjectsTest, ABindThatIsNotThereIsNoRootUnlessItMustBe) {
  make({"/w/a", "/o/x"});
  const std::vector<MountOperation> optional = view({readable("/w"), readable("/none")});
  std::vector<MountOperation> demanded = view({readable("/o"), writable("/w")});
  const law::KernelTable everything(table({"-file /w/q"}, Default::kAllow), {}, {});
  ASSERT_EQ(lower_in(everything, demanded).text(), "/o/ /w/a");

  make({"/none/"});
  std::filesystem::remove_all(tree_.at("/w"));
  std::filesystem::remove_all(tree_.at("/o"));

  EXPECT_EQ(lower_in(everything, optional).text(), "") << "/none was absent when that was planned";
  EXPECT_EQ(lower_in(everything, demanded).text(), "(redirected)");
}

TEST_F(ExecObjectsTest, WhatAMaskHidesIsNoRoot) {
  make({"/w/a", "/o/b"});
  const law::Table everything = table({"-file /w/q"}, Default::kAllow);

  EXPECT_EQ(lower(everything, {readable("/o"), readable("/w"), masked("/o")}).text(), "/w/a");
  EXPECT_EQ(lower(everything, {readable("/o"), readable("/w")}).text(), "/o/ /w/a");
}

TEST_F(ExecObjectsTest, AnEmptyTableAdmitsNothing) {
  make({"/w/a"});

  EXPECT_EQ(lower(table({}), {readable("/w")}).text(), "");
  EXPECT_EQ(lower(table({"-file /w/a"}), {readable("/w")}).text(), "");
}

// ---- redirections -------------------------------------------------------------------------------

TEST_F(ExecObjectsTest, AnAllowanceThatALinkLeadsAwayNowRefusesTheLaunch) {
  make({"/w/d/", "/w/d/t", "/w/f", "/o/t"});
  const law::Table directory = table({"+dir /w/d"});
  const law::Table file = table({"+file /w/f"});
  const law::Table inside = table({"+file /w/d/t"});
  std::filesystem::remove_all(tree_.at("/w/d"));
  std::filesystem::remove(tree_.at("/w/f"));
  tree_.link("../o", "/w/d");
  tree_.link("../o/t", "/w/f");

  EXPECT_EQ(lower(directory, {writable("/w")}).text(), "(redirected)");
  EXPECT_EQ(lower(file, {writable("/w")}).text(), "(redirected)");
  const Lowered got = lower(inside, {writable("/w")});
  EXPECT_EQ(got.text(), "(redirected)");
  EXPECT_EQ(got.denial.source, "launch");
  EXPECT_EQ(got.denial.real, tree_.at("/w/d/t"));
  EXPECT_TRUE(got.denial.text.starts_with("redirected: ")) << got.denial.text;
  EXPECT_EQ(lower(table({"+dir /o"}), {readable("/o")}).text(), "/o/");
}

TEST_F(ExecObjectsTest, AnAllowanceThatIsAnotherObjectNowRefusesTheLaunch) {
  make({"/w/d/", "/w/f", "/w/new/"});
  const Extras known = {
      .frozen = {frozen(ExecScope::kDirectory, "/w/d"), frozen(ExecScope::kFile, "/w/f")}};
  const law::Table both = table({"+dir /w/d", "+file /w/f"});
  ASSERT_EQ(lower(both, {writable("/w")}, known).text(), "/w/d/ /w/f");

  make({"/w/g"});
  std::filesystem::rename(tree_.at("/w/g"), tree_.at("/w/f"));
  EXPECT_EQ(lower(both, {writable("/w")}, known).text(), "/w/d/(redirected)");

  std::filesystem::rename(tree_.at("/w/new"), tree_.at("/w/d"));
  EXPECT_EQ(lower(both, {writable("/w")}, known).text(), "(redirected)");
}

TEST_F(ExecObjectsTest, ABindThatShowsAnotherObjectNowRefusesTheLaunch) {
  make({"/w/d/", "/w/new/"});
  const std::vector<MountOperation> planned = view({readable("/w/d")});
  const law::KernelTable everything(table({"-file /o/q"}, Default::kAllow), {}, {});
  ASSERT_EQ(lower_in(everything, planned).text(), "/w/d/");

  std::filesystem::rename(tree_.at("/w/new"), tree_.at("/w/d"));

  EXPECT_EQ(lower_in(everything, planned).text(), "(redirected)");
}

TEST_F(ExecObjectsTest, AfterARefusalTheAnswerStaysTheSame) {
  make({"/w/d/"});
  std::filesystem::create_symlink(tree_.at("/o"), tree_.at("/w/l"));
  const law::KernelTable kernel(table({"+dir /w/l"}), {}, {});
  const std::vector<MountOperation> shown = view({readable("/w")});
  ExecObjects objects(kernel, shown, {}, {});

  ASSERT_FALSE(objects.next());
  EXPECT_FALSE(objects.next()) << "the end would mean that the rules are complete";
}

// ---- files and support --------------------------------------------------------------------------

TEST_F(ExecObjectsTest, AFileThatIsADirectoryNowOrGoneIsNoRule) {
  make({"/w/f", "/w/g", "/w/h"});
  const law::Table files = table({"+file /w/f", "+file /w/g", "+file /w/h"});
  std::filesystem::remove(tree_.at("/w/f"));
  std::filesystem::remove(tree_.at("/w/g"));
  make({"/w/f/", "/w/f/inside"});

  EXPECT_EQ(lower(files, {readable("/w")}).text(), "/w/h");
}

TEST_F(ExecObjectsTest, AnExcludedFileIsNoRuleThoughItIsAllowedByItself) {
  make({"/w/f", "/w/g"});

  EXPECT_EQ(lower(table({"+file /w/f", "+file /w/g", "-file /w/f"}), {readable("/w")}).text(),
            "/w/g");
  EXPECT_EQ(lower(table({"+file /w/f", "+file /w/g", "-name F"}), {readable("/w")}).text(), "/w/g");
}

// guard 9.5: support is told to the kernel, last, and counted
TEST_F(ExecObjectsTest, SupportComesLastAndIsCounted) {
  make({"/w/p", "/o/ld.so", "/o/sh", "/w/own"});
  const Extras support = {.support = {"/o/ld.so", "/o/sh", "/w/own"}};

  const Lowered got =
      lower(table({"+file /w/p", "+file /w/own"}), {readable("/w"), readable("/o")}, support);
  const Lowered without =
      lower(table({"+file /w/p", "-file /o/sh"}), {readable("/w"), readable("/o")}, support);

  EXPECT_EQ(got.text(), "/w/p /w/own /o/ld.so /o/sh") << "the author's own allowance counts once";
  EXPECT_EQ(got.support, 2U);
  EXPECT_EQ(without.text(), "/w/p /o/ld.so /w/own");
  EXPECT_EQ(without.support, 2U);
}

// ---- bare names ---------------------------------------------------------------------------------

TEST_F(ExecObjectsTest, ABareNameIsLeftOutOfWhatAnAllowanceNames) {
  make({"/w/a", "/w/sub/", "/w/sub/Curl", "/w/sub/b", "/w/deep/", "/w/deep/er/", "/w/deep/er/c"});

  const Lowered got = lower(table({"+dir /w", "-name curl"}), {readable("/w")});

  EXPECT_EQ(got.text(), "/w/a /w/deep/ /w/sub/b");
  EXPECT_EQ(got.listed, 2U) << "only what leads to one";
}

TEST_F(ExecObjectsTest, ADirectoryOrALinkOfAnExcludedBareNameIsNotMeant) {
  make({"/w/curl/", "/w/curl/a", "/o/b/", "/o/b/c"});
  tree_.link("c", "/o/b/curl");

  EXPECT_EQ(
      lower(table({"+dir /w", "+dir /o", "-name curl"}), {readable("/w"), readable("/o")}).text(),
      "/o/ /w/");
}

TEST_F(ExecObjectsTest, WhereABareNameCannotBeLookedForNothingIsAdmitted) {
  make({"/w/a", "/w/d/", "/w/d/curl", "/w/d/t", "/w/e/"});
  ASSERT_EQ(::chmod(tree_.at("/w/d").c_str(), 0311), 0);
  const law::Table excluding = table({"+dir /w", "-name curl"});
  const OrdinaryUser user;
  if (::geteuid() == 0) GTEST_SKIP() << "the superuser can list every directory";

  EXPECT_EQ(lower(excluding, {readable("/w")}).text(), "/w/a /w/e/");
}

TEST_F(ExecObjectsTest, ABareNameIsLookedForAmongAsManyNamesAsTheCeiling) {
  make({"/w/1", "/w/2", "/w/s/", "/w/s/3"});
  const law::Table naming = table({"+dir /w", "-name curl"});

  EXPECT_EQ(lower(naming, {readable("/w")}, {.ceilings = {.entries = 0, .searched = 4}}).text(),
            "/w/");
  EXPECT_EQ(lower(naming, {readable("/w")}, {.ceilings = {.searched = 3}}).text(),
            "(exec_table_too_large)");
}

TEST_F(ExecObjectsTest, ABareNameIsNotLookedForWhereTheCommandWrites) {
  make({"/w/curl", "/w/b/", "/w/b/curl", "/o/curl", "/o/x"});
  const law::Table both = table({"+dir /w", "+dir /o", "-name curl"});

  EXPECT_EQ(lower(both, {writable("/w"), readable("/o")}).text(), "/o/x /w/");
  EXPECT_EQ(lower(both, {readable("/w"), writable("/w/b"), readable("/o")}).text(), "/o/x /w/")
      << "a region beneath counts too";
  EXPECT_EQ(lower(table({"+dir /w/b", "-name curl"}), {writable("/w")}).text(), "/w/b/");
}

TEST_F(ExecObjectsTest, ABareNameIsNotLookedForWithEverythingAllowed) {
  make({"/w/curl", "/w/a"});

  EXPECT_EQ(lower(table({"-name curl"}, Default::kAllow), {readable("/w")}).text(), "/w/");
  EXPECT_EQ(lower(table({"-name curl", "-file /w/b"}, Default::kAllow), {readable("/w")}).text(),
            "/w/a")
      << "where a directory is listed all the same, it is left out";
}

// ---- ceilings -----------------------------------------------------------------------------------

TEST_F(ExecObjectsTest, AsManyEntriesAsTheCeilingAreListedAndNotOneMore) {
  make({"/w/1", "/w/2", "/w/3", "/w/s/", "/w/s/x"});
  const law::Table listing = table({"+dir /w", "-file /w/s/y"});

  EXPECT_EQ(lower(listing, {readable("/w")}, {.ceilings = {.entries = 5}}).text(),
            "/w/1 /w/2 /w/3 /w/s/x");
  const Lowered got = lower(listing, {readable("/w")}, {.ceilings = {.entries = 4}});
  EXPECT_EQ(got.refusal, "exec_table_too_large");
  EXPECT_TRUE(got.denial.text.starts_with("exec_table_too_large: ")) << got.denial.text;
  EXPECT_TRUE(got.denial.hint);
}

TEST_F(ExecObjectsTest, AsManyRulesAsTheCeilingAreGivenAndNotOneMore) {
  make({"/w/1", "/w/2", "/w/3", "/o/f"});
  const law::Table three = table({"+dir /w", "-file /w/3", "+file /o/f"});

  EXPECT_EQ(lower(three, {readable("/w")}, {.ceilings = {.rules = 3}}).text(), "/w/1 /w/2 /o/f");
  EXPECT_EQ(lower(three, {readable("/w")}, {.ceilings = {.rules = 2}}).text(),
            "/w/1 /w/2(exec_table_too_large)");
}

TEST_F(ExecObjectsTest, ALoweringThatTakesTooLongIsRefused) {
  make({"/w/1", "/w/2", "/w/3"});
  std::chrono::steady_clock::time_point now{};
  const LoweringCeilings slow = {.time = 2s, .now = [&now] { return now += 300ms; }};
  const LoweringCeilings quick = {.time = 2s, .now = [&now] { return now += 1ms; }};
  const law::Table listing = table({"+dir /w", "-file /w/4"});

  EXPECT_EQ(lower(listing, {readable("/w")}, {.ceilings = quick}).text(), "/w/1 /w/2 /w/3");
  EXPECT_EQ(lower(listing, {readable("/w")}, {.ceilings = slow}).refusal, "exec_table_too_large");
}

// guard 9.7: 152
TEST_F(ExecObjectsTest, SeventyThousandFilesInAListedDirectoryAreTooMany) {
  const Tree memory(place_in_memory());
  memory.directory("/w/many");
  const int directory = ::open(memory.at("/w/many").c_str(), O_PATH | O_CLOEXEC);
  for (int i = 0; i < 70'000; ++i) {
    ::close(::openat(directory, std::to_string(i).c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0755));
  }
  ::close(directory);
  const AbsolutePath many = path(memory.at("/w/many"));
  const law::Place place = freeze_exclusion(path(memory.at("/w/many/none"))).place;
  const law::Allowance allowance = law::Allowance::directory(many, {});
  const law::KernelTable listing(law::Table({allowance}, {law::Exclusion::file(place, {})}), {},
                                 {});
  const law::KernelTable whole(law::Table({allowance}, {}), {}, {});

  // A clock that stands still: not the time is to end it.
  const LoweringCeilings no_hurry = {.now = [] { return std::chrono::steady_clock::time_point(); }};

  const Lowered got = lower_in(listing, {}, {.ceilings = no_hurry});

  EXPECT_EQ(got.refusal, "exec_table_too_large");
  EXPECT_EQ(got.rules.size(), kMaxExecRules);
  EXPECT_EQ(lower_in(whole, {}, {.ceilings = no_hurry}).rules.size(), 1U);
}

TEST_F(ExecObjectsTest, AListingDeeperThanAWalkEndsAndKeepsFewDescriptors) {
  std::string deep = "/w";
  for (int i = 0; i < 300; ++i) tree_.directory(deep += "/d");
  make({"/w/d/f"});

  const Lowered got = lower(table({"+dir /w", "-name q"}), {readable("/w")});
  const Lowered excluded = lower(table({"+dir /w", "-file " + deep + "/q"}), {readable("/w")});

  EXPECT_EQ(got.text(), "/w/d/f");
  EXPECT_EQ(excluded.text(), "/w/d/f");
  EXPECT_GT(excluded.listed, 200U);
  EXPECT_LE(excluded.listed, 256U);
}

TEST_F(ExecObjectsTest, WithoutDescriptorsItIsRefusedAndNotShorter) {
  make({"/w/1/", "/w/1/2/", "/w/1/2/3/", "/w/1/2/3/4/", "/w/1/2/3/4/f", "/w/1/2/3/4/x"});
  const law::Table listing = table({"+dir /w", "-file /w/1/2/3/4/x"});
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  std::set<std::string> refusals;
  // Wherever the descriptors run out: what is given is complete, or it is refused.
  for (rlim_t limit = 4; limit < 32; ++limit) {
    const rlimit few{.rlim_cur = limit, .rlim_max = before.rlim_max};
    std::vector<MountOperation> shown = view({readable("/w")});
    const law::KernelTable kernel(listing, {}, {});
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
    ExecObjects objects(kernel, shown, {}, {});
    std::size_t given = 0;
    auto next = objects.next();
    for (; next && next->handle >= 0; next = objects.next()) ++given;
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    if (next) {
      EXPECT_EQ(given, 1U) << limit;
    } else {
      refusals.insert(next.error().reason);
    }
  }
  EXPECT_EQ(refusals, std::set<std::string>{"resource"});
}

TEST_F(ExecObjectsTest, NoDescriptorIsLeft) {
  make({"/w/a", "/w/s/", "/w/s/f", "/w/s/g"});
  const auto open_descriptors = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  };
  const auto before = open_descriptors();
  {
    const law::KernelTable kernel(table({"+dir /w", "-file /w/s/f"}), {}, {});
    const std::vector<MountOperation> shown = view({readable("/w")});
    ExecObjects whole(kernel, shown, {}, {});
    while (whole.next().value().handle >= 0) continue;
    EXPECT_EQ(open_descriptors(), before) << "at the end none is held";
    ExecObjects half(kernel, shown, {}, {});
    ASSERT_GE(half.next().value().handle, 0);
    ExecObjects moved = std::move(half);
    ASSERT_GE(moved.next().value().handle, 0);
  }
  EXPECT_EQ(open_descriptors(), before);
}

}  // namespace
}  // namespace loom::guard
