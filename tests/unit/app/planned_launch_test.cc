#include "app/planned_launch.h"

#include <gtest/gtest.h>
#include <loom/stage2_control.h>

#include <functional>
#include <memory>
#include <utility>

namespace loom::app {
namespace {

PlanRequest question(const char* program) {
  PlanRequest asked;
  asked.command = {.argv = {program, "word"}, .environment = {"A=1"}, .cwd = "/work"};
  asked.policy.writable_roots.push_back(*AbsolutePath::parse("/work"));
  asked.facts.os = "linux";
  return asked;
}

std::shared_ptr<const HostFacts> facts_of(const PlanRequest& asked) {
  return std::make_shared<const HostFacts>(asked.facts);
}

LaunchSpec launch_of(const PlanRequest& asked) {
  LaunchSpec launch;
  launch.argv = {"bwrap"};
  launch.commit = commit_of(asked.command);
  return launch;
}

TEST(PlannedLaunchesTest, AnotherCommandOfThePolicyGetsTheLastLaunch) {
  PlannedLaunches launches;
  const PlanRequest first = question("one");
  const Audit audit{.extras = {"pins=1"}};
  const auto kept = launches.remember(first, facts_of(first), {}, launch_of(first), audit);
  ASSERT_NE(kept, nullptr);
  const auto found = launches.find(question("two"), facts_of(first));
  ASSERT_EQ(found, kept);
  EXPECT_EQ(found->audit, audit);
  // The environment of the command that was asked for first stands there.
  EXPECT_TRUE(found->launch.commit.empty());
  EXPECT_EQ(found->launch.argv.front(), "bwrap");
}

TEST(PlannedLaunchesTest, WhateverThePlanMayDependOnIsAskedAgain) {
  PlannedLaunches launches;
  const PlanRequest first = question("one");
  ASSERT_NE(launches.remember(first, facts_of(first), {}, launch_of(first), {}), nullptr);
  const std::pair<const char*, std::function<void(PlanRequest&)>> changes[] = {
      {"policy", [](PlanRequest& q) { q.policy.network.mode = NetworkMode::kFull; }},
      {"fact", [](PlanRequest& q) { q.facts.machine = "another"; }},
      {"exec table", [](PlanRequest& q) { q.exec.emplace(); }},
      {"filter to explain", [](PlanRequest& q) { q.explain_filter = true; }},
      {"private scratch", [](PlanRequest& q) { q.private_scratch = AbsolutePath::root(); }},
      {"judged program",
       [](PlanRequest& q) { q.command.program = AdmittedProgram{.real = AbsolutePath::root()}; }},
      {"no command", [](PlanRequest& q) { q.command.argv.clear(); }},
  };
  for (const auto& [name, change] : changes) {
    PlanRequest next = question("two");
    ASSERT_NE(launches.find(next, facts_of(next)), nullptr);
    change(next);
    EXPECT_EQ(launches.find(next, facts_of(next)), nullptr) << name;
    EXPECT_EQ(PlannedLaunches().remember(next, facts_of(next), {}, launch_of(next), {}) == nullptr,
              name != std::string_view("policy") && name != std::string_view("fact"))
        << name;
  }
}

TEST(PlannedLaunchesTest, NamesToMakeAndAnotherKindOfCommitAreNotKept) {
  const PlanRequest asked = question("one");
  JailPlan makes;
  makes.to_make.emplace_back(MadeName{.path = AbsolutePath::root()});
  EXPECT_EQ(PlannedLaunches().remember(asked, facts_of(asked), makes, launch_of(asked), {}),
            nullptr);
  LaunchSpec other = launch_of(asked);
  other.commit.push_back(std::byte{0});
  EXPECT_EQ(PlannedLaunches().remember(asked, facts_of(asked), {}, other, {}), nullptr);
}

TEST(PlannedLaunchesTest, TheNamesOfAPolicyAreThoseOfItsLastLaunch) {
  PlannedLaunches launches;
  const PlanRequest asked = question("one");
  LaunchSpec launch = launch_of(asked);
  launch.watched = {{.path = *AbsolutePath::parse("/work/key"), .identity = {1, 2}},
                    {.path = *AbsolutePath::parse("/work/gone")}};
  EXPECT_TRUE(launches.names_of(asked.policy).empty());
  ASSERT_NE(launches.remember(asked, facts_of(asked), {}, launch, {}), nullptr);
  EXPECT_EQ(launches.names_of(asked.policy),
            std::vector<AbsolutePath>{*AbsolutePath::parse("/work/key")});
  PlanRequest other = asked;
  other.policy.network.mode = NetworkMode::kFull;
  EXPECT_TRUE(launches.names_of(other.policy).empty());
}

TEST(PlannedLaunchesTest, TheCommitIsWhatTheControlProtocolSays) {
  const Command command = question("one").command;
  const auto document = decode_commit_document(commit_of(command));
  ASSERT_TRUE(document.has_value());
  EXPECT_EQ(*document,
            (CommitDocument{.argv = {"one", "word"}, .environment = {"A=1"}, .cwd = "/work"}));
}

}  // namespace
}  // namespace loom::app
