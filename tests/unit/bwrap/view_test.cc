#include "backends/bwrap/view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <loom/view_replay.h>

#include <string>

#include "backends/bwrap/render_argv.h"
#include "machine.h"

namespace loom::bwrap::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

void expect_order(const std::string& text, const std::string& first, const std::string& second) {
  ASSERT_THAT(text, HasSubstr(first));
  ASSERT_THAT(text, HasSubstr(second));
  EXPECT_LT(text.find(first), text.find(second)) << first << " before " << second;
}

std::string text_of(const Machine& machine, const Policy& policy) {
  return joined(argv_of(machine, policy));
}

// cases.md 8
TEST(ViewTest, OrderOfTheWritableRootsDoesNotMatter) {
  Policy one = base_policy();
  one.writable_roots = paths({"/b", "/a"});
  Policy other = base_policy();
  other.writable_roots = paths({"/a", "/b"});

  EXPECT_EQ(argv_of(base_machine(), one), argv_of(base_machine(), other));
  EXPECT_NE(argv_of(base_machine(), one), argv_of(base_machine(), base_policy()));
}

// cases.md 10, 11
TEST(ViewTest, ReadableRootOfTheHostComesFirstAndBeforeTheJailsOwnMounts) {
  Policy policy = empty_policy();
  policy.readable_roots = paths({"/"});
  const std::string text = text_of(Machine().directory("/"), policy);

  expect_order(text, " --ro-bind-try / / ", " --ro-bind-try /bin /bin ");
  expect_order(text, " --ro-bind-try / / ", " --proc /proc ");
  expect_order(text, " --ro-bind-try / / ", " --dev /dev ");
  EXPECT_EQ(count(text, " / / "), 1U);
  EXPECT_THAT(text, Not(HasSubstr(" --tmpfs / ")));
}

// cases.md 12
TEST(ViewTest, ScratchOfTheWholeHostIsBoundBeforeProcAndDev) {
  Policy policy = empty_policy();
  policy.scratch = host_scratch("/");
  const std::string text = text_of(Machine().directory("/"), policy);

  expect_order(text, " --bind / / ", " --proc /proc ");
  expect_order(text, " --bind / / ", " --dev /dev ");
}

// cases.md 14
TEST(ViewTest, HostScratchLeavesNoTraceOfTmp) {
  Policy policy = empty_policy();
  policy.scratch = host_scratch("/var/scratch");
  const auto argv = argv_of(Machine().directory("/var/scratch"), policy);

  EXPECT_THAT(joined(argv), HasSubstr(" --bind /var/scratch /var/scratch "));
  EXPECT_THAT(argv, Not(Contains("/tmp")));
}

// cases.md 19
TEST(ViewTest, ReadableRootInsideAWritableOneLandsOnTop) {
  Policy policy = base_policy();
  policy.readable_roots = paths({"/work/vendor"});

  expect_order(text_of(base_machine(), policy), " --bind /work /work ",
               " --ro-bind-try /work/vendor /work/vendor ");
}

// cases.md 20
TEST(ViewTest, WritableBeatsReadableAtOneRegion) {
  Policy policy = base_policy();
  policy.readable_roots = paths({"/work"});
  const std::string text = text_of(base_machine(), policy);

  EXPECT_EQ(count(text, " --bind /work /work "), 1U);
  EXPECT_THAT(text, Not(HasSubstr(" --ro-bind-try /work /work ")));
}

// cases.md 21
TEST(ViewTest, TrailingSlashesNameTheSameRegion) {
  Policy policy = empty_policy();
  policy.readable_roots = paths({"/work/"});
  policy.writable_roots = paths({"/work"});
  policy.protected_paths = paths({"/work/.git/"});
  const auto argv = argv_of(base_machine(), policy);

  EXPECT_EQ(count(joined(argv), " --bind /work /work "), 1U);
  EXPECT_THAT(argv, Not(Contains("/work/")));
  EXPECT_THAT(joined(argv), HasSubstr(" --tmpfs /work/.git --remount-ro /work/.git "));
}

// cases.md 22, 23
TEST(ViewTest, MaskInsideTheScratchFollowsTheScratch) {
  Policy tmpfs = empty_policy();
  tmpfs.protected_paths = paths({"/tmp/vault"});
  expect_order(text_of(Machine().directory("/tmp/vault"), tmpfs), " --tmpfs /tmp ",
               " --tmpfs /tmp/vault ");

  Policy bound = empty_policy();
  bound.scratch = host_scratch("/var/scratch");
  bound.protected_paths = paths({"/var/scratch/vault"});
  expect_order(text_of(Machine().directory("/var/scratch").directory("/var/scratch/vault"), bound),
               " --bind /var/scratch /var/scratch ", " --tmpfs /var/scratch/vault ");
}

// cases.md 24, 25
TEST(ViewTest, NestedWritableRootFollowsTheScratchAndPrecedesTheMask) {
  Policy policy = base_policy();
  policy.writable_roots = paths({"/tmp/build", "/work", "/work/.git/objects"});
  const std::string text = text_of(base_machine(), policy);

  expect_order(text, " --tmpfs /tmp ", " --bind /tmp/build /tmp/build ");
  expect_order(text, " --bind /work/.git/objects /work/.git/objects ", " --tmpfs /work/.git ");
}

// cases.md 26, 27
TEST(ViewTest, ScratchTmpfsBeatsEveryRootAtItsOwnRegion) {
  Policy policy = empty_policy();
  policy.writable_roots = paths({"/tmp"});
  policy.readable_roots = paths({"/tmp"});
  const std::string text = text_of(Machine(), policy);

  EXPECT_THAT(text, HasSubstr(" --tmpfs /tmp "));
  EXPECT_THAT(text, Not(HasSubstr("bind /tmp ")));
  EXPECT_THAT(text, Not(HasSubstr("bind-try /tmp ")));
}

// cases.md 28, 29
TEST(ViewTest, TwoGrantsOfOneKindAtOneRegionAreOne) {
  Policy policy = empty_policy();
  policy.writable_roots = paths({"/s"});
  policy.scratch = host_scratch("/s");
  policy.readable_roots = paths({"/usr"});
  const std::string text = text_of(Machine().directory("/s"), policy);

  EXPECT_EQ(count(text, " --bind /s /s "), 1U);
  EXPECT_EQ(count(text, " /usr /usr "), 1U);
}

// cases.md 30
TEST(ViewTest, MaskOfProcFollowsProc) {
  Policy policy = empty_policy();
  policy.protected_paths = paths({"/proc"});

  EXPECT_THAT(text_of(Machine().directory("/proc"), policy),
              HasSubstr(" --proc /proc --tmpfs /proc --remount-ro /proc "));
}

// cases.md 32, 33, 34
TEST(ViewTest, MountsSayAccessAndRequirementAndComeParentFirst) {
  Policy policy = empty_policy();
  policy.mounts = {mount("/srv/a/b", false, false), mount("/srv/c", false, true),
                   mount("/srv", true, true), mount("/srv/a", true, false),
                   mount("/usr/lib/erlang", false, true)};
  const std::string text = text_of(Machine(), policy);

  EXPECT_THAT(text, HasSubstr(" --bind /srv /srv --bind-try /srv/a /srv/a "
                              "--ro-bind-try /srv/a/b /srv/a/b --ro-bind /srv/c /srv/c "));
  expect_order(text, " --ro-bind-try /usr /usr ", " --ro-bind /usr/lib/erlang /usr/lib/erlang ");
}

Machine merged_machine() {
  Machine machine;
  machine.directory("/").directory("/usr/bin").missing("/lib32", 2);
  machine.linked("/bin", "/usr/bin", {{.place = path("/bin"), .target = "usr/bin"}});
  return machine;
}

// cases.md 35
TEST(ViewTest, WholeHostPlanMountsSystemRootsAtTheirRealPlaceReadOnly) {
  Policy readable = empty_policy();
  readable.readable_roots = paths({"/"});
  Policy writable = empty_policy();
  writable.writable_roots = paths({"/"});
  Policy scratch = empty_policy();
  scratch.scratch = host_scratch("/");
  for (const Policy& policy : {readable, writable, scratch}) {
    const auto view = build_view(merged_machine().resolve(policy));
    const ViewReplay replay(view);
    const std::string text = joined(canonical_argv(view, true));

    EXPECT_THAT(text, HasSubstr(" --ro-bind-try /usr/bin /usr/bin "));
    EXPECT_THAT(text, Not(HasSubstr(" /bin /bin ")));
    EXPECT_THAT(text, HasSubstr(" --ro-bind-try /lib32 /lib32 "));
    for (const char* root : {"/usr/bin", "/etc", "/lib32"}) {
      EXPECT_EQ(replay.effective(root)->mount_class, MountClass::kReadable) << root;
    }
    EXPECT_TRUE(is_masked(replay.effective("/proc")->mount_class));
    EXPECT_TRUE(is_masked(replay.effective("/dev")->mount_class));
  }
}

// cases.md 36
TEST(ViewTest, MinimalPlanMountsSystemRootsByTheirOwnName) {
  const std::string text = text_of(merged_machine(), empty_policy());

  EXPECT_THAT(text, HasSubstr(" --ro-bind-try /bin /bin "));
  EXPECT_THAT(text, Not(HasSubstr(" /usr/bin /usr/bin ")));
}

// cases.md 38, 39, 42
TEST(ViewTest, MaskFormFollowsTheKindOfTheObject) {
  Policy policy = empty_policy();
  policy.protected_paths = paths({"/home/user/.ssh", "/srv/file", "/srv/fifo", "/srv/dir"});
  Machine machine;
  machine.file("/srv/file").other("/srv/fifo").directory("/srv/dir");
  const std::string text = text_of(machine, policy);

  EXPECT_THAT(text, HasSubstr(" --tmpfs /home/user/.ssh --remount-ro /home/user/.ssh "));
  EXPECT_THAT(text, HasSubstr(" --tmpfs /srv/dir --remount-ro /srv/dir "));
  EXPECT_THAT(text, HasSubstr(" --ro-bind /dev/null /srv/file "));
  EXPECT_THAT(text, HasSubstr(" --ro-bind /dev/null /srv/fifo "));
  EXPECT_THAT(text, Not(HasSubstr(" /srv/file /srv/file ")));
}

// cases.md 40, 41
TEST(ViewTest, NestedAndRepeatedProtectedPathsHaveOneMask) {
  Machine machine;
  // "/h/.ssh-old" sorts between "/h/.ssh" and what lies inside it.
  machine.directory("/h/.ssh").file("/h/.ssh/id_rsa").directory("/h/.ssh-old");
  Policy policy = empty_policy();
  policy.protected_paths = paths({"/h/.ssh/id_rsa", "/h/.ssh", "/h/.ssh-old", "/h/.ssh"});
  const std::string text = text_of(machine, policy);

  EXPECT_EQ(count(text, " --tmpfs /h/.ssh "), 1U);
  EXPECT_EQ(count(text, " --tmpfs /h/.ssh-old "), 1U);
  EXPECT_THAT(text, Not(HasSubstr("id_rsa")));
}

// cases.md 43, 52
TEST(ViewTest, LinkIsMaskedAtItsTarget) {
  Machine machine;
  machine.directory("/srv/keys");
  machine.linked("/home/u/.ssh", "/srv/keys",
                 {{.place = path("/home/u/.ssh"), .target = "/srv/keys"}});
  Policy policy = empty_policy();
  policy.protected_paths = paths({"/home/u/.ssh", "/home/u/absent"});
  const auto view = build_view(machine.resolve(policy));
  const std::string text = joined(canonical_argv(view, true));

  EXPECT_THAT(text, HasSubstr(" --tmpfs /srv/keys --remount-ro /srv/keys "));
  EXPECT_THAT(text, HasSubstr(" --tmpfs /home/u/absent "));
  EXPECT_THAT(text, Not(HasSubstr("/home/u/.ssh")));
  EXPECT_EQ(view.back().written, path("/home/u/.ssh"));
}

// cases.md 44
TEST(ViewTest, WithoutProtectedPathsThereIsNoMaskOfOne) {
  const auto view = build_view(Machine().resolve(empty_policy()));
  for (const MountOperation& operation : view) {
    EXPECT_NE(operation.mount_class, MountClass::kProtected);
  }
}

TEST(ViewTest, RegionsAreRealPathsSoASpellingWinsNothing) {
  // A writable link whose target lies above a readable root must not open that root.
  Machine machine;
  machine.directory("/data").directory("/data/ro");
  machine.linked("/z", "/data", {{.place = path("/z"), .target = "/data"}});
  Policy policy = empty_policy();
  policy.writable_roots = paths({"/z"});
  policy.readable_roots = paths({"/data/ro"});

  expect_order(text_of(machine, policy), " --bind /data /data ",
               " --ro-bind-try /data/ro /data/ro ");
}

TEST(ViewTest, ObjectBehindALinkedSystemRootIsMaskedUnderBothNames) {
  Machine machine = merged_machine();
  machine.file("/usr/bin/tool");
  Policy policy = empty_policy();
  policy.protected_paths = paths({"/usr/bin/tool"});
  const std::string text = text_of(machine, policy);

  EXPECT_THAT(text, HasSubstr(" --ro-bind /dev/null /bin/tool "));
  EXPECT_THAT(text, HasSubstr(" --ro-bind /dev/null /usr/bin/tool "));

  policy.protected_paths = paths({"/usr"});
  EXPECT_THAT(text_of(machine, policy), HasSubstr(" --tmpfs /bin --remount-ro /bin "));

  policy.protected_paths = paths({"/usr/bin/tool"});
  policy.readable_roots = paths({"/"});
  EXPECT_EQ(count(text_of(machine, policy), " --ro-bind /dev/null "), 1U);
}

}  // namespace
}  // namespace loom::bwrap::test
