#include "backends/bwrap/to_make.h"

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
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Policy protecting(const std::vector<std::string>& texts) {
  Policy policy = empty_policy();
  policy.writable_roots = paths({"/work"});
  policy.protected_paths = paths(texts);
  return policy;
}

std::vector<std::string> made_by(const JailPlan& plan) {
  std::vector<std::string> names;
  for (const MadeName& name : plan.to_make) {
    names.push_back(name.path.str() + (name.intermediate ? "/" : ""));
  }
  return names;
}

std::vector<std::string> to_make(const Machine& machine, const Policy& policy) {
  return made_by(plan_of(machine, policy));
}

// cases.md 58 and 70, as changed by D12; guard 9.2: 27
TEST(ToMakeTest, AnAbsentPathWhereTheCommandCouldMakeItIsMadeBefore) {
  Machine machine = base_machine();
  EXPECT_THAT(to_make(machine, protecting({"/work/.env"})), IsEmpty());
  machine.missing("/work/.env", ENOENT);
  EXPECT_THAT(to_make(machine, protecting({"/work/.env"})), ElementsAre("/work/.env"));
  EXPECT_THAT(joined(plan_of(machine, protecting({"/work/.env"})).canonical_argv),
              HasSubstr(" --tmpfs /work/.env --remount-ro /work/.env "));

  Policy scratch = empty_policy();
  scratch.scratch = host_scratch("/work");
  scratch.protected_paths = paths({"/work/.env"});
  EXPECT_THAT(to_make(machine, scratch), ElementsAre("/work/.env"));
}

TEST(ToMakeTest, AbsentDirectoriesOnTheWayAreMadeFirstAndPinned) {
  Machine machine = base_machine();
  machine.directory("/work/a");
  const Policy policy = protecting({"/work/a/b/c/key", "/work/a/b/other", "/work/x"});
  const JailPlan plan = plan_of(machine, policy);
  EXPECT_THAT(made_by(plan), ElementsAre("/work/a/b/", "/work/a/b/c/", "/work/a/b/c/key",
                                         "/work/a/b/other", "/work/x"));
  EXPECT_THAT(joined(plan.canonical_argv),
              HasSubstr(" --bind /work/a /work/a --bind /work/a/b /work/a/b "
                        "--bind /work/a/b/c /work/a/b/c "));
}

TEST(ToMakeTest, TheSecondPlanIsTheFirstOneButForWhatIsKnownThen) {
  const Policy policy = protecting({"/work/a/b/key"});
  const JailPlan first = plan_of(base_machine(), policy);
  const Machine made = after_making(base_machine(), policy);
  const JailPlan second = plan_of(made, policy);
  EXPECT_EQ(second.canonical_argv, first.canonical_argv);
  EXPECT_EQ(second.digest, first.digest);
  EXPECT_EQ(second.to_make, first.to_make);
  EXPECT_NE(second.view, first.view);
  for (const MountOperation& operation : second.view) {
    if (operation.mount_class != MountClass::kPin) continue;
    EXPECT_EQ(operation.identity, identity_of(operation.region.str()));
  }
}

TEST(ToMakeTest, OnlyTheSecondPlanIsRendered) {
  const Policy policy = protecting({"/work/a/b/key"});
  const auto too_early = render(plan_of(base_machine(), policy));
  ASSERT_FALSE(too_early);
  EXPECT_THAT(too_early.error().message, HasSubstr("/work/a"));

  const auto launch = render(plan_of(after_making(base_machine(), policy), policy));
  ASSERT_TRUE(launch) << launch.error().message;
  EXPECT_THAT(launch->watched, ElementsAre(WatchedPath{.path = path("/work/a/b/key"),
                                                       .identity = identity_of("/work/a/b/key"),
                                                       .masked = true}));
}

TEST(ToMakeTest, APlaceholderIsMissingForAPolicyThatProtectsSomethingThere) {
  Machine machine = base_machine();
  machine.placeholder("/work/made");
  Policy policy = protecting({"/work/made/key"});
  EXPECT_THAT(to_make(machine, policy), ElementsAre("/work/made/", "/work/made/key"));

  policy.writable_roots = paths({"/work", "/work/made"});
  EXPECT_THAT(refusal_of(machine, policy), HasSubstr("writable_roots: /work/made"));
}

// Otherwise a command could take a region out of the next run's policy by the mode it leaves.
TEST(ToMakeTest, APlaceholderIsADirectoryForEveryOtherPolicy) {
  Machine machine = base_machine();
  machine.placeholder("/work/made");
  Policy policy = protecting({"/work/.env"});
  policy.readable_roots = paths({"/work/made"});
  EXPECT_THAT(joined(argv_of(machine, policy)), HasSubstr(" --ro-bind-try /work/made /work/made "));
  EXPECT_THAT(plan_of(machine, policy).notes, IsEmpty());

  policy.readable_roots = {};
  policy.mounts = {mount("/work/made", false, true)};
  EXPECT_THAT(joined(argv_of(machine, policy)), HasSubstr(" --ro-bind /work/made /work/made "));
  policy.mounts = {};
  policy.writable_roots = paths({"/work", "/work/made"});
  EXPECT_THAT(joined(argv_of(machine, policy)), HasSubstr(" --bind /work/made /work/made "));
}

TEST(ToMakeTest, NothingIsMadeBelowATmpfsOfTheJailsOwn) {
  EXPECT_THAT(to_make(base_machine(), protecting({"/home/u/.ssh", "/tmp/vault"})), IsEmpty());
}

// guard 9.2: 29
TEST(ToMakeTest, WhereTheJailIsReadOnlyAnAbsentPathIsRefusedAsBefore) {
  Policy policy = protecting({"/work/ro/key"});
  Machine machine = base_machine();
  machine.directory("/work/ro");
  EXPECT_THAT(to_make(machine, policy), ElementsAre("/work/ro/key"));
  policy.readable_roots = paths({"/work/ro"});
  EXPECT_THAT(refusal_of(machine, policy), HasSubstr("/work/ro/key"));
  // Also when another run has made it there just now.
  machine.placeholder("/work/ro/key");
  EXPECT_THAT(refusal_of(machine, policy), HasSubstr("/work/ro/key"));
}

TEST(ToMakeTest, APathThatIsNotKnownToBeAbsentIsRefusedWithTheReason) {
  Machine machine = base_machine();
  machine.directory("/work/closed").missing("/work/closed/key", EACCES);
  EXPECT_THAT(refusal_of(machine, protecting({"/work/closed/key"})),
              AllOf(HasSubstr("/work/closed/key"), HasSubstr("Permission denied")));
  machine.file("/work/file").missing("/work/file/key", ENOTDIR);
  EXPECT_THAT(refusal_of(machine, protecting({"/work/file/key"})),
              AllOf(HasSubstr("/work/file/key"), HasSubstr("protect /work/file")));
  machine.missing("/work/closed/key", ENOENT);
  EXPECT_THAT(to_make(machine, protecting({"/work/closed/key"})), ElementsAre("/work/closed/key"));
}

TEST(ToMakeTest, WhatAnotherRunMakesWhereTheJailShowsNothingIsNotWatched) {
  Machine machine = base_machine();
  machine.placeholder("/elsewhere/.env").placeholder("/work/.git/x").file("/elsewhere/key");
  const JailPlan plan = plan_of(
      machine, protecting({"/elsewhere/.env", "/elsewhere/key", "/work/.git/x", "/work/.git"}));
  const auto launch = render(plan);
  ASSERT_TRUE(launch) << launch.error().message;
  EXPECT_THAT(
      launch->watched,
      ElementsAre(
          WatchedPath{.path = path("/elsewhere/.env"), .identity = {}, .masked = true},
          WatchedPath{.path = path("/elsewhere/key"), .identity = {}, .masked = true},
          WatchedPath{
              .path = path("/work/.git"), .identity = identity_of("/work/.git"), .masked = true}));
}

// The bind lies under its mask, and whoever takes the host's name away detaches the mask.
TEST(ToMakeTest, AProtectedPathThatIsAGrantItselfIsWatched) {
  Machine machine = base_machine();
  machine.file("/elsewhere/key").file("/elsewhere/tool");
  Policy policy = protecting({"/elsewhere/key", "/elsewhere/tool"});
  policy.readable_roots = paths({"/elsewhere/key"});
  policy.writable_roots = paths({"/work", "/elsewhere/tool"});
  const auto launch = render(plan_of(machine, policy));
  ASSERT_TRUE(launch) << launch.error().message;
  EXPECT_THAT(launch->watched, ElementsAre(WatchedPath{.path = path("/elsewhere/key"),
                                                       .identity = identity_of("/elsewhere/key"),
                                                       .masked = true},
                                           WatchedPath{.path = path("/elsewhere/tool"),
                                                       .identity = identity_of("/elsewhere/tool"),
                                                       .masked = true}));
}

TEST(ToMakeTest, ANameThatAMaskAboveHidesIsNotMade) {
  EXPECT_THAT(to_make(base_machine(), protecting({"/work/a", "/work/a/b/key", "/work/.git/x"})),
              ElementsAre("/work/.git/x", "/work/a"));
  EXPECT_THAT(to_make(base_machine(), protecting({"/work/.git", "/work/.git/x"})), IsEmpty());
}

TEST(ToMakeTest, AMaskOverAnAbsentPathIsCountedAndWatched) {
  const auto judged = audit(plan_of(base_machine(), protecting({"/work/a/key"})));
  ASSERT_TRUE(judged);
  EXPECT_THAT(judged->when_witnessed, testing::Contains(HasSubstr("mask=1,")));
  EXPECT_THAT(judged->extras, testing::Contains("pins=1"));
}

TEST(ToMakeTest, WithoutBubblewrapNothingIsMade) {
  Machine machine = base_machine();
  machine.without_launcher();
  EXPECT_THAT(to_make(machine, protecting({"/work/a/key"})), IsEmpty());
}

TEST(ToMakeTest, FactsThatKnowNoDirectoryAtAllAreRefused) {
  PlanRequest request = base_machine().request(protecting({"/work/a/key"}));
  EXPECT_TRUE(plan(request).has_value());
  request.facts.directories.clear();
  EXPECT_FALSE(plan(request).has_value());
}

}  // namespace
}  // namespace loom::bwrap::test
