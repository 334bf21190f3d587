#include "backends/seatbelt/layers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <loom/view_replay.h>

#include <string>
#include <utility>

#include "mac_fixture.h"

namespace loom::seatbelt::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kIn = std::string(kWork) + '/';

std::vector<std::string> write_rules(const Launched& run) {
  std::vector<std::string> rules;
  for (const std::string& line : lines_of(run.profile())) {
    if (line.find(" file-write* ") != std::string::npos) rules.push_back(line);
  }
  return rules;
}

TEST(SeatbeltLayersTest, ADeeperReadableRootOfAReadableOneIsSaidOnce) {
  Policy policy = work_policy();
  policy.protected_paths.clear();
  policy.readable_roots = paths({kIn + "src", kIn + "src/in", kIn + "src/in/more"});
  const Launched run(Mac().directory(kIn + "src/in/more"), policy);
  EXPECT_EQ(count(run.profile(), "(deny file-write* "), 1U);
  EXPECT_FALSE(run.jail().creates(kIn + "src/in/more/f"));
}

TEST(SeatbeltLayersTest, TheNullDeviceStaysOpenUnderADeniedDev) {
  Policy policy;
  policy.writable_roots = paths({"/"});
  const Launched run(Mac(), policy);
  EXPECT_EQ(run.jail().answer(Operation::kWriteData, "/dev/tty"), Answer::kDenied);
  EXPECT_TRUE(run.jail().writes("/dev/null"));
  EXPECT_EQ(count(run.profile(), "\"/dev/null\""), 2U);
  EXPECT_EQ(count(Launched(Mac(), work_policy()).profile(), "\"/dev/null\""), 1U);
}

TEST(SeatbeltLayersTest, TheNullDeviceStaysOpenUnderAReadOnlyMount) {
  Policy policy;
  policy.writable_roots = paths({"/"});
  policy.mounts = {mount("/dev", false)};
  const Launched run(Mac(), policy);
  EXPECT_TRUE(run.jail().writes("/dev/null"));
  EXPECT_FALSE(run.jail().writes("/dev/tty"));
}

TEST(SeatbeltLayersTest, AReadOnlyMountWinsOverAWritableRootBehindALink) {
  Policy policy;
  policy.writable_roots = paths({"/Users/me/link"});
  policy.mounts = {mount(kIn + "src", false)};
  const Mac mac = Mac().link("/Users/me/link", "work/src");
  const Launched run(mac, policy);
  EXPECT_FALSE(run.jail().writes(kIn + "src/main.c"));
  policy.mounts.clear();
  EXPECT_TRUE(Launched(mac, policy).jail().writes(kIn + "src/main.c"));
}

TEST(SeatbeltLayersTest, UserDirectoriesBeneathAReadOnlyMountStayWritable) {
  Policy policy;
  policy.writable_roots = paths({"/private/var/log"});
  policy.mounts = {mount("/var", false)};
  const Launched run(Mac().file("/private/var/log/l"), policy);
  EXPECT_TRUE(run.jail().creates("/private/var/folders/zz/T/f"));
  EXPECT_FALSE(run.jail().writes("/private/var/log/l"));
}

TEST(SeatbeltLayersTest, OfTwoMountsOfOneObjectTheReadOnlyOneHolds) {
  Policy policy;
  policy.mounts = {mount(kIn + "src", true), mount("/Users/me/link", false)};
  const Mac mac = Mac().link("/Users/me/link", "work/src");
  EXPECT_FALSE(Launched(mac, policy).jail().writes(kIn + "src/main.c"));
  policy.mounts.pop_back();
  EXPECT_TRUE(Launched(mac, policy).jail().writes(kIn + "src/main.c"));
}

TEST(SeatbeltLayersTest, AMountWithNothingWritableAroundItDeniesNothing) {
  Policy policy = work_policy();
  policy.mounts = {mount("/Users/me/.ssh", false)};
  for (const std::string& rule : write_rules(Launched(Mac(), policy))) {
    EXPECT_THAT(rule, Not(HasSubstr("MOUNT_")));
  }
}

// Moved with the directory above, the inner root would take its protected file to another name.
TEST(SeatbeltLayersTest, NamesArePinnedUpToTheOutermostWritableRegion) {
  Policy policy;
  policy.writable_roots = paths({kWork, kIn + "a/b"});
  policy.protected_paths = paths({kIn + "a/b/c/key"});
  const Mac mac = Mac().file(kIn + "a/b/c/key").directory(kIn + "free");
  const Launched run(mac, policy);
  EXPECT_FALSE(run.jail().renames(kIn + "a", kIn + "z"));
  EXPECT_FALSE(run.jail().renames(kIn + "a/b/c", kIn + "z"));
  EXPECT_TRUE(run.jail().renames(kIn + "free", kIn + "z"));
}

TEST(SeatbeltLayersTest, TheViewIsOfTheLastWord) {
  Policy policy = work_policy();
  policy.readable_roots = paths({kIn + "src"});
  policy.writable_roots = paths({kWork, kIn + "src/out"});
  policy.mounts = {mount("/Users/me/.ssh", false), mount("/bin/cat", true)};
  const Launched run(Mac().directory(kIn + "src/out"), policy);
  const ViewReplay replay(run.plan().view);
  const auto at = [&replay](const std::string& text) {
    return replay.effective(text)->mount_class;
  };
  EXPECT_EQ(at("/"), MountClass::kRootTmpfs);
  EXPECT_EQ(at("/Users/me"), MountClass::kRootTmpfs);
  EXPECT_EQ(at("/usr/bin"), MountClass::kReadable);
  EXPECT_EQ(at(kWork), MountClass::kWritable);
  EXPECT_EQ(at(kIn + "src/main.c"), MountClass::kReadable);
  EXPECT_EQ(at(kIn + "src/out/f"), MountClass::kWritable);
  EXPECT_EQ(at(kIn + ".git/x"), MountClass::kProtected);
  EXPECT_EQ(at("/Users/me/.ssh/id"), MountClass::kMountReadOnly);
  EXPECT_EQ(at("/bin/cat"), MountClass::kMountReadWrite);
  EXPECT_EQ(at(kRunScratch), MountClass::kWritable);
  EXPECT_EQ(at("/private/var/folders/zz/T"), MountClass::kWritable);
  EXPECT_EQ(at(kStage2Path), MountClass::kReadable);
}

TEST(SeatbeltLayersTest, ObjectsOfTheViewAreThoseThatWereLookedAt) {
  const Launched run(Mac(), work_policy());
  for (const MountOperation& operation : run.plan().view) {
    if (operation.mount_class != MountClass::kWritable) continue;
    if (operation.region.str() != kWork) continue;
    EXPECT_EQ(operation.identity, identity_at(kWork));
    EXPECT_EQ(operation.form, MountForm::kRule);
  }
}

// --- regions under several spellings, which rules take for one

// Whether the profile lets a file be made there, whatever the machine has.
bool makes(const Launched& run, const std::string& at) {
  return run.rules().allows(
      {.operation = Operation::kWriteCreate, .path = at, .vnode = Vnode::kRegular});
}

TEST(SeatbeltLayersTest, AReadOnlyRegionLiesInAWritableOneOfAnotherSpelling) {
  for (const auto& [outer, inner] : {std::pair("Build", "build/keep"),
                                     {"build", "BUILD/Keep"},
                                     {"Caf\u00E9", "cafe\u0301/keep"}}) {
    SCOPED_TRACE(inner);
    Policy policy;
    policy.writable_roots = paths({"/Users/me/" + std::string(outer)});
    policy.readable_roots = paths({"/Users/me/" + std::string(inner)});
    const Launched run(Mac(), policy);
    EXPECT_FALSE(makes(run, "/Users/me/" + std::string(outer) + "/keep/f"));
    EXPECT_FALSE(makes(run, "/Users/me/" + std::string(inner) + "/f"));
    EXPECT_TRUE(makes(run, "/Users/me/" + std::string(outer) + "/f"));
    // And cannot be moved away with what is above.
    const std::string directory = "/Users/me/" + std::string(outer);
    EXPECT_THAT(run.defined("PROTECTED_ANCESTOR_"), Contains(directory));
  }
}

// Byte for byte the innermost would come first, and the outer denial last.
TEST(SeatbeltLayersTest, TheInnermostOfThreeSpellingsDecides) {
  Policy policy;
  policy.writable_roots = paths({kWork, "/Users/me/WORK/keep/open"});
  policy.readable_roots = paths({kIn + "Keep"});
  const Launched run(Mac(), policy);
  EXPECT_FALSE(makes(run, kIn + "keep/f"));
  EXPECT_TRUE(makes(run, kIn + "keep/open/f"));
  EXPECT_TRUE(makes(run, kIn + "f"));
}

TEST(SeatbeltLayersTest, OfOnePlaceUnderTwoSpellingsTheDenialHolds) {
  for (const auto& [writable, readable] : {std::pair("A", "a"), {"a", "A"}}) {
    Policy policy;
    policy.writable_roots = paths({kWork, kIn + writable, kIn + "a/open"});
    policy.readable_roots = paths({kIn + readable});
    const Launched run(Mac(), policy);
    EXPECT_FALSE(makes(run, kIn + "a/f"));
    EXPECT_FALSE(makes(run, kIn + "A/f"));
    EXPECT_TRUE(makes(run, kIn + "A/open/f"));
    EXPECT_TRUE(makes(run, kIn + "b/f"));
  }
}

// This volume tells names apart, so both mounts are there.
TEST(SeatbeltLayersTest, AMountLiesInAnotherOfAnotherSpelling) {
  Policy policy;
  policy.mounts = {mount(kWork, true), mount("/Users/me/WORK/src", false)};
  const Launched run(Mac().directory("/Users/me/WORK/src"), policy);
  EXPECT_FALSE(makes(run, kIn + "src/f"));
  EXPECT_TRUE(makes(run, kIn + "f"));

  policy.mounts = {mount("/Users/me/WORK/src", false)};
  policy.writable_roots = paths({kWork});
  const Launched in_root(Mac().directory("/Users/me/WORK/src"), policy);
  EXPECT_FALSE(makes(in_root, kIn + "src/f"));
  EXPECT_TRUE(makes(in_root, kIn + "f"));

  policy.mounts = {mount("/Users/me/WORK", false)};
  policy.writable_roots = paths({kIn + "out"});
  const Launched around(Mac().directory("/Users/me/WORK"), policy);
  EXPECT_FALSE(makes(around, kIn + "out/f"));
}

// The user's directories stay writable beneath a read-only mount.
TEST(SeatbeltLayersTest, OurOwnRegionsStayWritableBeneathAMountOfAnotherSpelling) {
  Policy policy;
  policy.mounts = {mount("/private/VAR", false)};
  policy.writable_roots = paths({"/private/VAR/x"});
  const Launched run(Mac().directory("/private/VAR/x"), policy);
  EXPECT_TRUE(makes(run, "/private/var/folders/zz/T/f"));
  EXPECT_FALSE(makes(run, "/private/var/x/f"));
}

// What is mounted at the very place decides, also where both lie in another mount that denies.
TEST(SeatbeltLayersTest, AMountAtAUserDirectoryDecides) {
  const std::string at = "/private/var/folders/zz/T";
  const Mac mac = Mac().directory("/private/var/x");
  Policy policy;
  policy.writable_roots = paths({"/private/var/x"});
  for (const bool inside_another : {false, true}) {
    SCOPED_TRACE(inside_another);
    policy.mounts = {mount("/var/folders/zz/T", false)};
    if (inside_another) policy.mounts.push_back(mount("/var", false));
    const Launched run(mac, policy);
    EXPECT_FALSE(run.jail().creates(at + "/f"));
    EXPECT_EQ(ViewReplay(run.plan().view).effective(at)->mount_class, MountClass::kMountReadOnly);
    EXPECT_TRUE(run.jail().creates("/private/var/folders/zz/C/f"));
    policy.mounts.front() = mount("/var/folders/zz/T", true);
    EXPECT_TRUE(Launched(mac, policy).jail().creates(at + "/f"));
  }
}

TEST(SeatbeltLayersTest, NamesAboveAProtectedPathOfAnotherSpellingArePinned) {
  Policy policy;
  policy.writable_roots = paths({kWork});
  policy.protected_paths = paths({"/Users/me/WORK/.git/hooks"});
  const Launched run(Mac(), policy);
  const auto takes_away = [&run](const std::string& at) {
    return run.rules().allows(
        {.operation = Operation::kWriteUnlink, .path = at, .vnode = Vnode::kDirectory});
  };
  EXPECT_FALSE(takes_away(kIn + ".git"));
  EXPECT_FALSE(makes(run, kIn + ".git"));
  EXPECT_TRUE(takes_away(kIn + "src"));
}

TEST(SeatbeltLayersTest, ALinkInAWritableRegionOfAnotherSpellingIsPinned) {
  Policy policy;
  policy.writable_roots = paths({kWork});
  policy.readable_roots = paths({"/Users/me/WORK/link"});
  const Mac mac = Mac().link("/Users/me/WORK/link", "/opt").directory("/opt");
  EXPECT_THAT(Launched(mac, policy).defined("LINK_"), ElementsAre("/Users/me/WORK/link"));
}

// Looking at one would outlast the denial of its other spelling.
TEST(SeatbeltLayersTest, NothingProtectedIsLookedAtUnderAnotherSpelling) {
  Policy policy;
  policy.readable_roots = paths({"/Users/me/secret/in"});
  EXPECT_THAT(Launched(Mac(), policy).defined("ANCESTOR_"), Contains("/Users/me/secret"));
  policy.protected_paths = paths({"/Users/me/SECRET"});
  EXPECT_THAT(Launched(Mac(), policy).defined("ANCESTOR_"), Not(Contains("/Users/me/secret")));
}

TEST(SeatbeltLayersTest, TheNullDeviceStaysOpenUnderAnotherSpellingOfDev) {
  Policy policy;
  policy.writable_roots = paths({"/"});
  policy.mounts = {mount("/DEV", false)};
  EXPECT_TRUE(Launched(Mac().directory("/DEV"), policy).jail().writes("/dev/null"));
}

TEST(SeatbeltLayersTest, Stage2CannotBeProtectedUnderAnotherSpelling) {
  Policy policy;
  policy.protected_paths = paths({"/usr/LOCAL"});
  EXPECT_THAT(refusal(Mac().request(policy)).message, HasSubstr("has to start with"));
  policy.protected_paths = paths({"/usr/LOCALE"});
  EXPECT_THAT(Launched(Mac(), policy).profile(), HasSubstr("PROTECTED_PATH_0"));
}

}  // namespace
}  // namespace loom::seatbelt::test
