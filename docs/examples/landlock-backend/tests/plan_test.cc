#include "plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <loom/stage2_control.h>

#include "landlock_numbers.h"
#include "question.h"
#include "render.h"
#include "view.h"

namespace landlock {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string refusal_of(const Question& question) {
  const auto made = plan(question.request);
  return made ? "no refusal" : made.error().message;
}

const Rule* rule_for(const std::vector<Rule>& rules, const std::string& path) {
  for (const Rule& rule : rules) {
    if (rule.path == path) return &rule;
  }
  return nullptr;
}

std::vector<Rule> rules_for(const Question& question, std::uint32_t abi = kAbi) {
  const auto made = plan(question.request);
  EXPECT_TRUE(made) << made.error().message;
  return made ? rules_of(made->view, abi) : std::vector<Rule>();
}

TEST(LandlockPlanTest, AWorkspaceIsWritableAndTheSystemIsNot) {
  const std::vector<Rule> rules = rules_for(Question());

  ASSERT_NE(rule_for(rules, "/ws"), nullptr);
  EXPECT_NE(rule_for(rules, "/ws")->access & kWriteFile, 0u);
  ASSERT_NE(rule_for(rules, "/usr"), nullptr);
  EXPECT_EQ(rule_for(rules, "/usr")->access, kExecute | kReadFile | kReadDirectory);
  ASSERT_NE(rule_for(rules, "/dev/null"), nullptr);
  EXPECT_EQ(rule_for(rules, "/dev/null")->access & kExecute, 0u);
}

TEST(LandlockPlanTest, NoRuleIsMadeForTheRootTheScratchParentOrOtherDevices) {
  const std::vector<Rule> rules = rules_for(Question());

  for (const char* closed : {"/", "/tmp", "/dev", "/dev/pts", "/dev/shm", "/sys", "/home"}) {
    EXPECT_EQ(rule_for(rules, closed), nullptr) << closed;
  }
  EXPECT_NE(rule_for(rules, "/tmp/loom-1"), nullptr);
}

TEST(LandlockPlanTest, ARuleIsForTheObjectThatWasLookedAt) {
  Question question;
  question.fact("/ws").identity = {.device = 7, .inode = 4'242};

  const std::vector<Rule> rules = rules_for(question);

  ASSERT_NE(rule_for(rules, "/ws"), nullptr);
  EXPECT_EQ(rule_for(rules, "/ws")->identity, (loom::FileIdentity{.device = 7, .inode = 4'242}));
}

TEST(LandlockPlanTest, NoRuleGivesARightThatTheKernelDoesNotKnow) {
  for (std::uint32_t abi = 1; abi <= kAbi; ++abi) {
    SCOPED_TRACE(abi);
    Question question;
    question.kernel(abi);

    for (const Rule& rule : rules_for(question, abi)) {
      EXPECT_EQ(rule.access & ~handled_files(abi), 0u) << rule.path;
    }
  }
}

TEST(LandlockPlanTest, AMaskInsideOfWhatIsGrantedIsRefusedByName) {
  for (const char* inside : {"/ws/.env", "/ws/a/b", "/etc/shadow", "/usr/bin", "/proc/sys"}) {
    SCOPED_TRACE(inside);
    Question question;
    question.request.policy.protected_paths = {path(inside)};
    question.look();

    const std::string refusal = refusal_of(question);

    EXPECT_THAT(refusal, HasSubstr(std::string("protected path ") + inside));
    EXPECT_THAT(refusal, HasSubstr("lies inside"));
  }
}

TEST(LandlockPlanTest, AnAbsentMaskInsideOfTheWorkspaceIsRefusedToo) {
  Question question;
  question.request.policy.protected_paths = {path("/ws/absent")};
  question.look();
  question.fact("/ws/absent").kind = loom::PathKind::kMissing;

  EXPECT_THAT(refusal_of(question), HasSubstr("protected path /ws/absent lies inside"));
}

TEST(LandlockPlanTest, ADevtmpfsOrProcUnderAnotherNameIsRefused) {
  Question question;
  question.request.policy.readable_roots = {path("/srv/tree")};
  question.look();
  for (const char* node : {"/dev/null", "/dev/zero"}) question.fact(node).identity.device = 5;
  question.fact("/proc").identity.device = 23;
  ASSERT_THAT(refusal_of(question), HasSubstr("no refusal"));

  for (const std::uint64_t device : {5u, 23u}) {
    question.fact("/srv/tree").identity.device = device;
    EXPECT_THAT(refusal_of(question), HasSubstr("readable root /srv/tree")) << device;
  }
}

TEST(LandlockPlanTest, ADevThatIsADirectoryOfTheSystemsClosesNothingElse) {
  Question question;
  ASSERT_EQ(question.fact("/dev/null").identity.device, question.fact("/ws").identity.device);

  EXPECT_THAT(refusal_of(question), HasSubstr("no refusal"));
}

TEST(LandlockPlanTest, AMaskOutsideOfEveryGrantIsPlannedAndGetsNoRule) {
  Question question;
  question.request.policy.protected_paths = {path("/home/u/.ssh"), path("/wsx")};
  question.look();

  const std::vector<Rule> rules = rules_for(question);

  EXPECT_EQ(rule_for(rules, "/home/u/.ssh"), nullptr);
  EXPECT_EQ(rule_for(rules, "/wsx"), nullptr);
  EXPECT_NE(rule_for(rules, "/ws"), nullptr);
}

TEST(LandlockPlanTest, WhatIsGrantedInsideOfAMaskStaysHidden) {
  Question question;
  question.request.policy.readable_roots = {path("/home/u/docs")};
  question.request.policy.protected_paths = {path("/home/u"), path("/etc")};
  question.look();

  const std::vector<Rule> rules = rules_for(question);

  EXPECT_EQ(rule_for(rules, "/home/u/docs"), nullptr);
  EXPECT_EQ(rule_for(rules, "/etc"), nullptr);
  EXPECT_NE(rule_for(rules, "/usr"), nullptr);
}

TEST(LandlockPlanTest, AMaskIsJudgedByWhereItsNameLeads) {
  Question question;
  question.request.policy.protected_paths = {path("/home/u/link")};
  question.look();
  question.fact("/home/u/link").real = path("/ws/secret");

  EXPECT_THAT(refusal_of(question), HasSubstr("/ws/secret"));
}

TEST(LandlockPlanTest, AFurtherNameOfAMaskThatIsGrantedIsRefused) {
  Question question;
  question.request.policy.readable_roots = {path("/srv/data")};
  question.request.policy.protected_paths = {path("/home/u/secret")};
  question.look();
  ASSERT_THAT(refusal_of(question), HasSubstr("no refusal"));
  question.request.facts.mounts = {
      {.point = path("/"), .root = path("/"), .device = "8:1"},
      {.point = path("/srv/data/again"), .root = path("/home/u/secret"), .device = "8:1"}};

  EXPECT_THAT(refusal_of(question), HasSubstr("shown once more at /srv/data/again"));
}

TEST(LandlockPlanTest, AGrantThatIsAnotherNameOfAPartOfAMaskIsRefused) {
  Question question;
  question.request.policy.protected_paths = {path("/home/u")};
  question.look();
  question.request.facts.mounts = {
      {.point = path("/"), .root = path("/"), .device = "8:1"},
      {.point = path("/ws"), .root = path("/home/u/project"), .device = "8:1"}};

  EXPECT_THAT(refusal_of(question), HasSubstr("protected path /home/u is shown once more at /ws"));
}

TEST(LandlockPlanTest, ReadingInsideOfWritingIsRefused) {
  Question question;
  question.request.policy.readable_roots = {path("/ws/notes")};
  question.look();

  EXPECT_THAT(refusal_of(question), HasSubstr("readable root /ws/notes lies inside writable root"));
}

TEST(LandlockPlanTest, AReadOnlyMountThatAWritableRootOpensIsRefused) {
  for (const char* at : {"/ws", "/ws/lib"}) {
    SCOPED_TRACE(at);
    Question question;
    question.request.policy.mounts = {{.path = path(at), .writable = false}};
    question.look();

    EXPECT_THAT(refusal_of(question), HasSubstr("read-only mount"));
  }
}

TEST(LandlockPlanTest, MountsElsewhereAreRules) {
  Question question;
  question.request.policy.mounts = {{.path = path("/m/ro"), .writable = false},
                                    {.path = path("/m/rw"), .writable = true}};
  question.look();

  const std::vector<Rule> rules = rules_for(question);

  ASSERT_NE(rule_for(rules, "/m/ro"), nullptr);
  EXPECT_EQ(rule_for(rules, "/m/ro")->access & kWriteFile, 0u);
  ASSERT_NE(rule_for(rules, "/m/rw"), nullptr);
  EXPECT_NE(rule_for(rules, "/m/rw")->access & kWriteFile, 0u);
}

TEST(LandlockPlanTest, AMountOrScratchInsideOfAMaskIsRefused) {
  Question mount;
  mount.request.policy.mounts = {{.path = path("/home/u/m"), .writable = false}};
  mount.request.policy.protected_paths = {path("/home/u")};
  mount.look();
  Question scratch;
  scratch.request.policy.protected_paths = {path("/tmp")};
  scratch.look();

  EXPECT_THAT(refusal_of(mount), HasSubstr("mount /home/u/m lies inside protected path /home/u"));
  EXPECT_THAT(refusal_of(scratch), HasSubstr("private scratch lies inside protected path /tmp"));
}

TEST(LandlockPlanTest, TheWholeHostAndItsDevicesAreNeverGranted) {
  for (const char* wide : {"/", "/dev", "/dev/pts", "/proc", "/proc/1"}) {
    SCOPED_TRACE(wide);
    Question question;
    question.request.policy.readable_roots = {path(wide)};
    question.look();

    EXPECT_THAT(refusal_of(question), HasSubstr("would open the host's"));
  }
}

TEST(LandlockPlanTest, ALinkThatTheCommandCanReplaceIsRefused) {
  Question question;
  question.request.policy.protected_paths = {path("/ws/link/secret")};
  question.look();
  question.fact("/ws/link/secret").real = path("/home/u/secret");
  question.fact("/ws/link/secret").links = {{.place = path("/ws/link"), .target = "/home/u"}};

  EXPECT_THAT(refusal_of(question), HasSubstr("the link /ws/link, which the command can replace"));
}

TEST(LandlockPlanTest, WhatIsAbsentAndNeededIsRefusedByName) {
  Question question;
  question.request.policy.mounts = {{.path = path("/m"), .writable = false, .required = true}};
  question.look();
  question.fact("/ws").kind = loom::PathKind::kMissing;
  question.fact("/m").kind = loom::PathKind::kMissing;

  const std::string refusal = refusal_of(question);

  EXPECT_THAT(refusal, HasSubstr("/ws"));
  EXPECT_THAT(refusal, HasSubstr("/m ("));
}

TEST(LandlockPlanTest, AKernelWithoutOneOfTheTwoLayersPlansNothing) {
  Question no_landlock;
  no_landlock.kernel(0);
  Question no_filter;
  no_filter.kernel(kAbi, false);
  Question unprobed;
  unprobed.request.facts.backend.clear();

  EXPECT_THAT(refusal_of(no_landlock), HasSubstr("Landlock"));
  EXPECT_THAT(refusal_of(no_filter), HasSubstr("filters"));
  EXPECT_THAT(refusal_of(unprobed), HasSubstr("not probed"));
}

TEST(LandlockPlanTest, AProxyIsRefusedAndNoNetworkIsNot) {
  Question question;
  question.request.policy.network.mode = loom::NetworkMode::kProxy;
  EXPECT_THAT(refusal_of(question), HasSubstr("network proxy"));

  question.request.policy.network.mode = loom::NetworkMode::kOff;
  EXPECT_THAT(refusal_of(question), HasSubstr("no refusal"));
}

TEST(LandlockPlanTest, VersionThreeIsRefusedWithTheAgreedToken) {
  Question question;
  question.request.policy.version = 3;
  question.request.exec = loom::ExecRules{};

  EXPECT_THAT(refusal_of(question), testing::StartsWith("confinement_unavailable: "));
}

TEST(LandlockPlanTest, KeptCapabilitiesAreRefused) {
  Question question;
  question.request.keep_capabilities = {"CAP_NET_RAW"};

  EXPECT_THAT(refusal_of(question), HasSubstr("CAP_NET_RAW"));
}

TEST(LandlockPlanTest, TheOrderOfListsMeansNothing) {
  Question one;
  one.request.policy.readable_roots = {path("/a"), path("/b")};
  one.request.policy.protected_paths = {path("/x"), path("/y")};
  Question other;
  other.request.policy.readable_roots = {path("/b"), path("/a")};
  other.request.policy.protected_paths = {path("/y"), path("/x")};
  one.look();
  other.look();
  // Identities are numbered in the order of the policy's lists.
  for (const char* same : {"/a", "/b", "/x", "/y"})
    other.fact(same).identity = one.fact(same).identity;

  const auto a = plan(one.request);
  const auto b = plan(other.request);

  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->view, b->view);
  EXPECT_EQ(a->backend, b->backend);
}

TEST(LandlockRenderTest, TheCommandTravelsInTheCommitAndNowhereElse) {
  Question question;
  question.request.command = {
      .argv = {"sh", "-c", "$SECRET \xFF"}, .environment = {"SECRET=1"}, .cwd = "/ws"};
  const auto made = plan(question.request);
  ASSERT_TRUE(made);

  const auto launch = render(*made);

  ASSERT_TRUE(launch);
  EXPECT_EQ(launch->argv, std::vector<std::string>{kStage2});
  EXPECT_TRUE(launch->environment.empty());
  const auto commit = loom::decode_commit_document(launch->commit);
  ASSERT_TRUE(commit);
  EXPECT_EQ(commit->argv, question.request.command.argv);
  EXPECT_EQ(commit->environment, question.request.command.environment);
}

}  // namespace
}  // namespace landlock
