#include "backends/bwrap/shown_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <vector>

#include "backends/bwrap/audit.h"
#include "backends/bwrap/plan.h"
#include "backends/bwrap/render.h"
#include "machine.h"

namespace loom::bwrap::test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::vector<std::string> masks_of(const JailPlan& plan) {
  std::vector<std::string> masks;
  for (const MountOperation& operation : plan.view) {
    if (operation.mount_class != MountClass::kProtected) continue;
    masks.push_back((operation.form == MountForm::kNullDevice ? "file " : "directory ") +
                    operation.region.str());
  }
  return masks;
}

Policy showing(const std::vector<std::string>& readable, const std::vector<std::string>& hidden) {
  Policy policy = empty_policy();
  policy.readable_roots = paths(readable);
  policy.protected_paths = paths(hidden);
  return policy;
}

// /y is a bind mount of /x.
Machine mirrored() {
  Machine machine;
  machine.directory("/x").directory("/x/d").file("/x/d/k").file("/x/k");
  machine.directory("/y").directory("/y/d").file("/y/d/k").file("/y/k");
  machine.mounted("/", "/", "8:1").mounted("/y", "/x", "8:1");
  return machine;
}

// guard 9.7: 130
TEST(ShownNamesTest, AMaskIsLaidAtTheNameThatAMountOfTheHostGives) {
  const Policy policy = showing({"/y"}, {"/x/k"});
  const JailPlan plan = plan_of(mirrored(), policy);
  EXPECT_THAT(masks_of(plan), ElementsAre("file /x/k", "file /y/k"));
  EXPECT_THAT(joined(plan.canonical_argv), HasSubstr(" --ro-bind /dev/null /y/k "));
  const auto judged = audit(plan);
  ASSERT_TRUE(judged);
  EXPECT_THAT(judged->when_witnessed, Contains(HasSubstr(",mask=1,")));

  EXPECT_THAT(masks_of(plan_of(mirrored(), showing({}, {"/x/k"}))), ElementsAre("file /x/k"));
  EXPECT_THAT(masks_of(plan_of(mirrored(), showing({"/x"}, {"/x/k"}))), ElementsAre("file /x/k"));
  EXPECT_THAT(masks_of(plan_of(mirrored(), showing({"/x", "/y"}, {"/y/k"}))),
              ElementsAre("file /x/k", "file /y/k"));
}

// guard 9.7: 132
TEST(ShownNamesTest, AMountInsideAShownRegionIsMaskedThere) {
  Machine machine;
  machine.directory("/x").file("/x/k").directory("/w").directory("/w/m").file("/w/m/k");
  machine.mounted("/", "/", "8:1").mounted("/w/m", "/x", "8:1");
  Policy policy = showing({}, {"/x/k"});
  policy.writable_roots = paths({"/w"});
  const JailPlan plan = plan_of(machine, policy);
  EXPECT_THAT(masks_of(plan), ElementsAre("file /w/m/k", "file /x/k"));
  // The name must not be built anew there either.
  EXPECT_THAT(joined(plan.canonical_argv), HasSubstr(" --bind /w/m /w/m "));
}

TEST(ShownNamesTest, TheOtherNamesOfTheHostAreWatchedToo) {
  const auto launch = render(plan_of(mirrored(), showing({"/y"}, {"/x/k"})));
  ASSERT_TRUE(launch);
  EXPECT_THAT(
      launch->watched,
      ElementsAre(
          WatchedPath{.path = path("/x/k"), .identity = identity_of("/x/k"), .masked = true},
          WatchedPath{.path = path("/y/k"), .identity = identity_of("/x/k"), .masked = true}));
  // The host has no such object under the name of a system root that is a link.
  Machine machine;
  machine.directory("/usr/bin").file("/usr/bin/tool");
  machine.linked("/bin", "/usr/bin", {{.place = path("/bin"), .target = "usr/bin"}});
  const auto linked = render(plan_of(machine, showing({}, {"/usr/bin/tool"})));
  ASSERT_TRUE(linked);
  EXPECT_EQ(linked->watched.size(), 1U);
}

// guard 9.7: 133
TEST(ShownNamesTest, ARootBehindALinkNeedsNoMaskOfItsOwn) {
  Machine machine;
  machine.directory("/w").directory("/w/real").file("/w/real/k");
  machine.linked("/l", "/w/real", {{.place = path("/l"), .target = "w/real"}});
  const JailPlan plan = plan_of(machine, showing({"/l"}, {"/w/real/k"}));
  EXPECT_THAT(masks_of(plan), ElementsAre("file /w/real/k"));
  EXPECT_THAT(joined(executed_of(machine, showing({"/l"}, {"/w/real/k"}))),
              HasSubstr(" --symlink w/real /l "));
}

// field B24
TEST(ShownNamesTest, ASystemRootThatIsALinkIsOneOfTheNames) {
  Machine machine;
  machine.directory("/usr/bin").file("/usr/bin/tool").directory("/mirror").file("/mirror/tool");
  machine.linked("/bin", "/usr/bin", {{.place = path("/bin"), .target = "usr/bin"}});
  machine.mounted("/", "/", "8:1").mounted("/mirror", "/usr/bin", "8:1");
  EXPECT_THAT(masks_of(plan_of(machine, showing({}, {"/usr/bin/tool"}))),
              ElementsAre("file /bin/tool", "file /usr/bin/tool"));
  EXPECT_THAT(masks_of(plan_of(machine, showing({"/mirror"}, {"/usr/bin/tool"}))),
              ElementsAre("file /bin/tool", "file /mirror/tool", "file /usr/bin/tool"));
  EXPECT_THAT(masks_of(plan_of(machine, showing({}, {"/mirror/tool"}))),
              ElementsAre("file /bin/tool", "file /mirror/tool", "file /usr/bin/tool"));
  EXPECT_THAT(masks_of(plan_of(machine, showing({}, {"/usr/bin"}))),
              ElementsAre("directory /bin", "directory /usr/bin"));
}

TEST(ShownNamesTest, AMountOfAPartOfAProtectedDirectoryIsMaskedWhole) {
  Machine machine;
  machine.directory("/x").directory("/x/sub").file("/x/f");
  machine.directory("/w").directory("/w/m").file("/w/file");
  machine.mounted("/", "/", "8:1").mounted("/w/m", "/x/sub", "8:1");
  machine.mounted("/w/file", "/x/f", "8:1");
  Policy policy = showing({"/w"}, {"/x"});
  EXPECT_THAT(masks_of(plan_of(machine, policy)),
              ElementsAre("file /w/file", "directory /w/m", "directory /x"));
  // A root that is itself inside it.
  policy.readable_roots = paths({"/w/m", "/w/file"});
  EXPECT_THAT(masks_of(plan_of(machine, policy)),
              ElementsAre("file /w/file", "directory /w/m", "directory /x"));
}

TEST(ShownNamesTest, ANameThatTheViewDoesNotShowIsNotMasked) {
  Machine machine = mirrored();
  machine.directory("/tmp/y").file("/tmp/y/k").mounted("/tmp/y", "/x", "8:1");
  EXPECT_THAT(masks_of(plan_of(machine, showing({}, {"/x/k"}))), ElementsAre("file /x/k"));
  // Below the jail's own scratch there is none of the host's.
  machine.directory("/");
  const auto masks = masks_of(plan_of(machine, showing({"/"}, {"/x/k"})));
  EXPECT_THAT(masks, ElementsAre("file /x/k", "file /y/k"));
}

TEST(ShownNamesTest, AnAbsentPathIsMadeOnceAndMaskedAtEveryName) {
  Policy policy = showing({}, {"/x/d/none/key"});
  policy.writable_roots = paths({"/y"});
  const JailPlan first = plan_of(mirrored(), policy);
  EXPECT_THAT(masks_of(first), ElementsAre("directory /x/d/none/key", "directory /y/d/none/key"));
  ASSERT_EQ(first.to_make.size(), 2U);
  EXPECT_EQ(first.to_make[0].path.str(), "/x/d/none");
  EXPECT_EQ(first.to_make[1].path.str(), "/x/d/none/key");

  Machine made = after_making(mirrored(), policy);
  made.placeholder("/y/d/none").placeholder("/y/d/none/key");  // the same, under the other name
  const JailPlan second = plan_of(made, policy);
  EXPECT_EQ(second.canonical_argv, first.canonical_argv);
  EXPECT_EQ(second.digest, first.digest);
  EXPECT_TRUE(render(second).has_value());

  policy.writable_roots = {};
  policy.readable_roots = paths({"/y"});
  EXPECT_THAT(refusal_of(mirrored(), policy), HasSubstr("/x/d/none/key"));
}

TEST(ShownNamesTest, ANameThatCouldNotBeLookedAtIsRefused) {
  Machine machine = mirrored();
  const Policy policy = showing({"/y"}, {"/x/d/k"});
  EXPECT_THAT(masks_of(plan_of(machine, policy)), ElementsAre("file /x/d/k", "file /y/d/k"));
  machine.unlooked("/y/d");
  EXPECT_THAT(refusal_of(machine, policy), AllOf(HasSubstr("/x/d/k"), HasSubstr("/y/d/k")));
}

TEST(ShownNamesTest, AMountOfThePolicyOverSuchANameIsRefused) {
  Machine machine = mirrored();
  machine.directory("/z");
  Policy policy = showing({}, {"/x/k"});
  for (const char* at : {"/y", "/y/k"}) {
    policy.mounts = {mount(at, false, true)};
    EXPECT_THAT(refusal_of(machine, policy), AllOf(HasSubstr("/y/k"), HasSubstr("/x/k")));
  }
  policy.mounts = {mount("/y/d", false, true), mount("/z", false, true)};
  EXPECT_THAT(masks_of(plan_of(machine, policy)), ElementsAre("file /x/k"));
}

TEST(ShownNamesTest, NamesCountAgainstTheLimitOfArguments) {
  Machine machine = mirrored();
  Policy policy = showing({"/y"}, {});
  for (int i = 0; i < 1'450; ++i) {
    machine.file("/x/" + std::to_string(i)).file("/y/" + std::to_string(i));
    policy.protected_paths.push_back(path("/x/" + std::to_string(i)));
  }
  EXPECT_EQ(masks_of(plan_of(machine, policy)).size(), 2'900U);
  for (int i = 1'450; i < 1'500; ++i) {
    machine.file("/x/" + std::to_string(i)).file("/y/" + std::to_string(i));
    policy.protected_paths.push_back(path("/x/" + std::to_string(i)));
  }
  EXPECT_THAT(refusal_of(machine, policy), HasSubstr("8900"));
}

TEST(ShownNamesTest, TheOrderOfTheListsChangesNothing) {
  Policy policy = showing({"/y", "/x"}, {"/x/k", "/y/d"});
  const auto one = plan_of(mirrored(), policy).canonical_argv;
  policy.readable_roots = paths({"/x", "/y"});
  policy.protected_paths = paths({"/y/d", "/x/k"});
  EXPECT_EQ(plan_of(mirrored(), policy).canonical_argv, one);
  EXPECT_THAT(joined(one), AllOf(HasSubstr(" --tmpfs /x/d "), HasSubstr(" --tmpfs /y/d ")));
}

}  // namespace
}  // namespace loom::bwrap::test
