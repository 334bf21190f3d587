#include "backends/bwrap/pins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <loom/view_replay.h>

#include <cerrno>
#include <string>
#include <vector>

#include "backends/bwrap/audit.h"
#include "backends/bwrap/plan.h"
#include "backends/bwrap/render.h"
#include "machine.h"
#include "tests/support/golden.h"

namespace loom::bwrap::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::vector<std::string> pins_of(const Machine& machine, const Policy& policy) {
  std::vector<std::string> regions;
  for (const MountOperation& operation : plan_of(machine, policy).view) {
    if (operation.mount_class == MountClass::kPin) regions.push_back(operation.region.str());
  }
  return regions;
}

Policy protecting(const std::vector<std::string>& texts) {
  Policy policy = empty_policy();
  policy.writable_roots = paths({"/work"});
  policy.protected_paths = paths(texts);
  return policy;
}

Machine deep_machine() {
  Machine machine;
  machine.directory("/work").directory("/work/a").directory("/work/a/b").directory("/work/a/b/c");
  machine.file("/work/a/b/key").file("/work/key").file("/work/a/b/c/key").directory("/work/a/r");
  return machine;
}

void expect_order(const std::string& text, const std::string& first, const std::string& second) {
  ASSERT_THAT(text, HasSubstr(first));
  ASSERT_THAT(text, HasSubstr(second));
  EXPECT_LT(text.find(first), text.find(second)) << text;
}

// cases.md 1, 9, 31 keep their digests: see render_argv_test.cc.
TEST(PinsTest, NothingIsPinnedWhereEveryDirectoryAboveIsAMountPointAlready) {
  EXPECT_THAT(pins_of(deep_machine(), protecting({"/work/key", "/home/u/.ssh"})), IsEmpty());
}

TEST(PinsTest, EveryDirectoryBetweenTheRegionAndAMaskIsPinnedOnce) {
  const Policy policy = protecting({"/work/a/b/key", "/work/a/b/c/key"});
  EXPECT_THAT(pins_of(deep_machine(), policy), ElementsAre("/work/a", "/work/a/b", "/work/a/b/c"));
  const auto judged = audit(plan_of(deep_machine(), policy));
  ASSERT_TRUE(judged);
  EXPECT_THAT(judged->extras, Contains("pins=3"));
  EXPECT_THAT(judged->when_witnessed, Contains(HasSubstr("ro=0,rw=1,mask=2,")));
  EXPECT_THAT(judged->widened, IsEmpty());
}

TEST(PinsTest, APinIsTheDirectoryItselfRightAfterWhatShowsIt) {
  const JailPlan plan = plan_of(deep_machine(), protecting({"/work/a/b/key"}));
  const std::string text = joined(plan.canonical_argv);
  expect_order(text, " --bind /work /work ", " --bind /work/a /work/a ");
  expect_order(text, " --bind /work/a /work/a ", " --bind /work/a/b /work/a/b ");
  expect_order(text, " --bind /work/a/b /work/a/b ", " --dev /dev ");
  for (const MountOperation& operation : plan.view) {
    if (operation.mount_class != MountClass::kPin) continue;
    EXPECT_EQ(operation.identity, identity_of(operation.region.str()));
    EXPECT_EQ(operation.parent_identity, identity_of(operation.region.parent().str()));
    EXPECT_EQ(operation.written, operation.region);
  }
}

TEST(PinsTest, ReadableRootsAndReadOnlyMountsKeepTheirNamesToo) {
  Policy policy = empty_policy();
  policy.writable_roots = paths({"/work"});
  policy.readable_roots = paths({"/work/a/r", "/work/absent/x"});
  EXPECT_THAT(pins_of(deep_machine(), policy), ElementsAre("/work/a"));
  expect_order(joined(plan_of(deep_machine(), policy).canonical_argv), " --bind /work/a /work/a ",
               " --ro-bind-try /work/a/r /work/a/r ");

  policy.readable_roots = {};
  policy.mounts = {mount("/work/a/b/c", false, true), mount("/work/gone/x", false, false)};
  EXPECT_THAT(pins_of(deep_machine(), policy), ElementsAre("/work/a", "/work/a/b"));
  policy.mounts = {mount("/work/a/b/c", true, true)};
  EXPECT_THAT(pins_of(deep_machine(), policy), IsEmpty());
  policy.mounts = {};
  policy.writable_roots = paths({"/work", "/work/a/r"});
  EXPECT_THAT(pins_of(deep_machine(), policy), IsEmpty());
}

TEST(PinsTest, APinInsideAnExplicitMountFollowsThatMount) {
  Machine machine = deep_machine();
  machine.directory("/m").directory("/m/d").directory("/m/d/ro").directory("/m/d-e");
  Policy policy = protecting({"/work/a/b/key"});
  policy.mounts = {mount("/m", true, true), mount("/m/d/ro", false, true),
                   mount("/m/d-e", false, true)};
  EXPECT_THAT(pins_of(machine, policy), ElementsAre("/work/a", "/work/a/b", "/m/d"));
  const std::string text = joined(plan_of(machine, policy).canonical_argv);
  expect_order(text, " --ro-bind /dev/null /work/a/b/key ", " --bind /m /m ");
  expect_order(text, " --bind /m /m ", " --bind /m/d /m/d ");
  expect_order(text, " --bind /m/d /m/d ", " --ro-bind /m/d-e /m/d-e ");
  expect_order(text, " --ro-bind /m/d-e /m/d-e ", " --ro-bind /m/d/ro /m/d/ro ");
}

TEST(PinsTest, ARootThatALaterMountHidesIsNoMountPoint) {
  Machine machine = deep_machine();
  machine.directory("/m").directory("/m/d").directory("/m/d/ro");
  Policy policy = empty_policy();
  policy.readable_roots = paths({"/m/d"});
  policy.mounts = {mount("/m", true, true), mount("/m/d/ro", false, true)};
  EXPECT_THAT(pins_of(machine, policy), ElementsAre("/m/d"));
}

TEST(PinsTest, WhatIsReadOnlyOrTheJailsOwnOnTheWayIsNotPinned) {
  Policy policy = protecting({"/work/a/b/c/key"});
  policy.readable_roots = paths({"/work/a/b"});
  // /work/a can be moved, with the read-only region in it; /work/a/b/c cannot.
  EXPECT_THAT(pins_of(deep_machine(), policy), ElementsAre("/work/a"));

  Machine machine = deep_machine();
  machine.directory("/tmp/b").directory("/tmp/b/c").file("/tmp/b/c/key");
  Policy scratch = protecting({"/tmp/b/c/key"});
  EXPECT_THAT(pins_of(machine, scratch), IsEmpty());
  scratch.writable_roots = paths({"/tmp/b"});
  EXPECT_THAT(pins_of(machine, scratch), ElementsAre("/tmp/b/c"));
}

TEST(PinsTest, DirectoriesAboveAnInnerWritableRootArePinnedForWhatLiesInIt) {
  Policy policy = protecting({"/work/a/b/key"});
  policy.writable_roots = paths({"/work", "/work/a/b"});
  EXPECT_THAT(pins_of(deep_machine(), policy), ElementsAre("/work/a"));
}

TEST(PinsTest, EachPinIsCheckedByStageTwoAndSoIsWhatIsReadOnlyBelow) {
  Policy policy = protecting({"/work/a/b/key"});
  policy.readable_roots = paths({"/work/a/r"});
  const JailPlan plan = plan_of(deep_machine(), policy);
  const auto memo = decode_run_memo(plan.backend);
  ASSERT_TRUE(memo);
  const auto document = prepare_document(plan.view, *memo);
  ASSERT_TRUE(document) << document.error().message;
  EXPECT_THAT(document->view, ElementsAre(ViewCheck{.path = "/work/a",
                                                    .form = ViewCheck::Form::kPin,
                                                    .parent_identity = identity_of("/work"),
                                                    .identity = identity_of("/work/a")},
                                          ViewCheck{.path = "/work/a/b",
                                                    .form = ViewCheck::Form::kPin,
                                                    .parent_identity = identity_of("/work/a"),
                                                    .identity = identity_of("/work/a/b")},
                                          ViewCheck{.path = "/work/a/r",
                                                    .form = ViewCheck::Form::kReadOnlyBind,
                                                    .parent_identity = identity_of("/work/a"),
                                                    .identity = identity_of("/work/a/r")},
                                          ViewCheck{.path = "/work/a/b/key",
                                                    .form = ViewCheck::Form::kNullDevice,
                                                    .parent_identity = identity_of("/work/a/b"),
                                                    .identity = {}}));
}

TEST(PinsTest, ADirectoryThatWasNotLookedAtIsRefusedByName) {
  Machine machine = deep_machine();
  EXPECT_FALSE(plan_of(machine, protecting({"/work/a/b/key"})).view.empty());
  machine.unlooked("/work/a");
  EXPECT_THAT(refusal_of(machine, protecting({"/work/a/b/key"})), HasSubstr("/work/a"));
}

TEST(PinsGoldenTest, NestedPathsUnderAWritableRoot) {
  Policy policy = protecting({"/work/a/b/key", "/work/a/b/c/key", "/work/key"});
  policy.readable_roots = paths({"/work/a/r"});
  policy.mounts = {mount("/work/a/b/c", true, false)};
  policy.protected_paths = paths({"/work/a/b/key", "/work/key"});
  const JailPlan plan = plan_of(deep_machine(), policy);
  loom::test::expect_golden(plan.canonical_argv, "bwrap/pins.argv");
}

}  // namespace
}  // namespace loom::bwrap::test
