#include "backends/seatbelt/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <loom/digest.h>
#include <loom/stage2_control.h>

#include <algorithm>
#include <ctime>
#include <string>

#include "backends/seatbelt/platform.h"
#include "mac_fixture.h"

namespace loom::seatbelt::test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

const std::string kIn = std::string(kWork) + '/';

Error refusal(const Mac& mac, const Policy& policy) {
  return seatbelt::test::refusal(mac.request(policy));
}

// --- what the plan says --------------------------------------------------------------------------

// cases.md 205
TEST(SeatbeltPlanTest, NoPathOfThePolicyIsInTheProfile) {
  Policy policy;
  policy.writable_roots = paths({"/Users/me/a \"b\"\nc"});
  const Launched run(Mac().directory("/Users/me/a \"b\"\nc"), policy);

  EXPECT_THAT(run.profile(), Not(HasSubstr("Users")));
  EXPECT_THAT(run.launch().argv, Contains(HasSubstr("=/Users/me/a \"b\"\nc")));
  EXPECT_THAT(run.profile(), StartsWith("(version 1)\n(deny default)\n"));
  EXPECT_TRUE(run.rules().allows({.operation = Operation::kNetworkOutbound, .unix_socket = true}));
  EXPECT_FALSE(run.rules().allows({.operation = Operation::kNetworkOutbound}));
  EXPECT_THAT(run.files_entry(), HasSubstr(",scratch=private-dir,"));
}

// cases.md 206
TEST(SeatbeltPlanTest, NoAllowanceFollowsTheFirstDenial) {
  Policy policy = work_policy();
  policy.network.mode = NetworkMode::kFull;
  const std::string profile = Launched(Mac(), policy).profile();
  // The system view's own denial is no promise to the policy: regions stand above it.
  const std::size_t base = profile.find('\n', profile.find("(deny file-read* (subpath \"/System/"));
  const std::size_t first = profile.find("(deny ", base);

  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(profile.find("(allow ", first), std::string::npos);
  EXPECT_NE(profile.rfind("(allow ", first), std::string::npos);
  EXPECT_THAT(profile, HasSubstr("(deny file-write-unlink "));
  EXPECT_THAT(profile, HasSubstr("(allow network-outbound)\n"));
}

// cases.md 207
TEST(SeatbeltPlanTest, OrderAndDuplicatesDoNotMatter) {
  Policy one = work_policy();
  one.readable_roots = paths({"/Users/me/.ssh", "/opt"});
  one.protected_paths = paths({kIn + ".git", kIn + ".env"});
  one.mounts = {mount("/usr/bin/true", false), mount("/bin/cat", false)};
  Policy other = one;
  other.readable_roots = paths({"/opt", "/Users/me/.ssh", "/opt"});
  other.writable_roots = paths({kWork, kWork});
  other.protected_paths = paths({kIn + ".env", kIn + ".git", kIn + ".env"});
  std::reverse(other.mounts.begin(), other.mounts.end());

  EXPECT_EQ(Launched(Mac(), one).plan().canonical_argv,
            Launched(Mac(), other).plan().canonical_argv);
  EXPECT_EQ(Launched(Mac(), one).plan().digest, Launched(Mac(), other).plan().digest);
  EXPECT_EQ(Launched(Mac(), one).plan().view, Launched(Mac(), other).plan().view);
  EXPECT_NE(Launched(Mac(), one).plan().digest, Launched(Mac(), work_policy()).plan().digest);
}

// cases.md 208
TEST(SeatbeltPlanTest, MountsStandBeforeTheFirstDenialAndAReadOnlyOneAllowsNoWriting) {
  Policy policy = work_policy();
  policy.mounts = {mount("/Users/me/data", true), mount("/Users/me/.ssh", false)};
  const Launched run(Mac().directory("/Users/me/data"), policy);

  EXPECT_THAT(run.defined("MOUNT_"), ElementsAre("/Users/me/.ssh", "/Users/me/data"));
  EXPECT_EQ(count(run.profile(), "(allow file-write* (subpath (param \"MOUNT_0\")))"), 0U);
  EXPECT_EQ(count(run.profile(), "(allow file-write* (subpath (param \"MOUNT_1\")))"), 1U);
  EXPECT_EQ(count(run.profile(), "(allow file-read* (subpath (param \"MOUNT_"), 2U);
  EXPECT_LT(run.profile().rfind("MOUNT_"), run.profile().find("(deny file-read* (literal"));
}

TEST(SeatbeltPlanTest, DefinitionsFollowTheProfile) {
  Policy policy = work_policy();
  policy.mounts = {mount("/Users/me/.ssh", false)};
  const Launched run(Mac(), policy);
  std::vector<std::string> met;
  for (std::size_t at = run.profile().find("(param \""); at != std::string::npos;
       at = run.profile().find("(param \"", at + 1)) {
    const std::size_t begin = at + 8;
    std::string name = run.profile().substr(begin, run.profile().find('"', begin) - begin);
    if (std::find(met.begin(), met.end(), name) == met.end()) met.push_back(std::move(name));
  }
  EXPECT_EQ(run.call().order, met);
}

TEST(SeatbeltPlanTest, TheDigestIsOfProfileAndDefinitions) {
  const Launched run(Mac(), work_policy());
  std::string content = run.profile();
  for (const std::string& name : run.call().order) {
    content += '\0' + name + '=' + run.call().definitions.at(name);
  }
  EXPECT_EQ(run.plan().digest, sha256_hex(as_bytes(content)).substr(0, 16));
  EXPECT_THAT(run.plan().digest, SizeIs(16));
}

TEST(SeatbeltPlanTest, CountsAreOfTheProfile) {
  Policy policy = work_policy();
  policy.protected_paths = paths({kIn + ".git", "/tmp/a"});
  const Launched run(Mac(), policy);
  // The workspace, the scratch and two user directories.
  EXPECT_THAT(run.files_entry(), StartsWith("seatbelt-fs:rw=4,mask=3,bind_ro=0,bind_rw=0,scratch="
                                            "private-dir,base=minimal,plan=" +
                                            run.plan().digest));
}

TEST(SeatbeltPlanTest, AncestorsCanBeLookedAtAndNotRead) {
  Policy policy;
  policy.readable_roots = paths({kIn + "src"});
  const Launched run(Mac(), policy);
  EXPECT_TRUE(run.jail().resolves(kIn + "src/main.c"));
  EXPECT_TRUE(run.jail().looks_at("/Users"));
  EXPECT_FALSE(run.jail().reads("/Users"));
  EXPECT_FALSE(run.jail().looks_at("/Users/me/.ssh"));
}

TEST(SeatbeltPlanTest, ASiblingOfTheScratchIsNobodys) {
  const Mac mac = Mac().directory("/private/tmp/loom-exec-scratch-other");
  const Launched run(mac, work_policy());
  EXPECT_TRUE(run.jail().creates(std::string(kRunScratch) + "/f"));
  EXPECT_FALSE(run.jail().creates("/private/tmp/loom-exec-scratch-other/f"));
  EXPECT_FALSE(run.jail().reads("/private/tmp/loom-exec-scratch-other"));
}

// field B94
TEST(SeatbeltPlanTest, FiveHundredProtectedPathsDeepInside) {
  Policy policy = work_policy();
  for (int i = 0; i < 500; ++i) {
    std::string deep = kWork;
    for (int level = 0; level < 12; ++level) {
      deep += "/level" + std::to_string(level) + '-' + std::to_string(i);
    }
    policy.protected_paths.push_back(path(deep));
  }
  const Mac mac;
  const PlanRequest request = mac.request(policy);
  const std::clock_t before = std::clock();
  const auto planned = plan(request);
  const double took = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;

  ASSERT_TRUE(planned.has_value()) << planned.error().message;
  RecordProperty("milliseconds", static_cast<int>(took * 1'000));
  EXPECT_LT(took, 2) << "seconds of processor time";
  const Launched run(mac, request);
  EXPECT_TRUE(run.call().by_descriptor);
  EXPECT_THAT(run.launch().argv, Not(Contains(HasSubstr("(version 1)"))));
  EXPECT_FALSE(run.jail().creates(policy.protected_paths.back().str()));
}

TEST(SeatbeltPlanTest, AsManyPathsAsTheKernelTakesAndNoMore) {
  Policy policy = work_policy();
  const std::string filler(150, 'x');
  for (int i = 0; i < 3'000; ++i) {
    policy.readable_roots.push_back(path("/Users/me/" + std::to_string(i) + filler));
  }
  EXPECT_TRUE(plan(Mac().request(policy)).has_value());
  for (int i = 3'000; i < 9'000; ++i) {
    policy.readable_roots.push_back(path("/Users/me/" + std::to_string(i) + filler));
  }
  const Error error = refusal(Mac(), policy);
  EXPECT_EQ(error.code, ErrorCode::kDenied);
  EXPECT_THAT(error.message,
              AllOf(StartsWith("profile_too_large: "), HasSubstr(" 921600 can be passed")));
}

// --- what it refuses -----------------------------------------------------------------------------

// cases.md 214
TEST(SeatbeltPlanTest, WithoutTheLauncherNothingRuns) {
  const Error error = refusal(Mac().without_launcher(), work_policy());
  EXPECT_EQ(error.code, ErrorCode::kUnsupported);
  EXPECT_THAT(error.message, AllOf(HasSubstr(std::string(kLauncher)), HasSubstr("no such file")));
  EXPECT_THAT(error.message, Not(HasSubstr("confinement_unavailable")));

  const Error strict =
      seatbelt::test::refusal(Mac().without_launcher().request(work_policy(), exec_rules({})));
  EXPECT_THAT(strict.message, StartsWith("confinement_unavailable: "));
}

TEST(SeatbeltPlanTest, WithoutStage2NothingRuns) {
  const Error error = refusal(Mac().without_stage2(), work_policy());
  EXPECT_EQ(error.code, ErrorCode::kUnsupported);
  EXPECT_THAT(error.message, HasSubstr("stage 2 is missing: no such file"));
}

// guard 9.8: 158
// field B92
TEST(SeatbeltPlanTest, InsideAProfileNothingRuns) {
  const Mac mac = Mac().machine({.user_directories = {}, .already_profiled = "not permitted"});
  const Error error = refusal(mac, work_policy());
  EXPECT_EQ(error.code, ErrorCode::kUnsupported);
  EXPECT_THAT(error.message, AllOf(StartsWith("already_profiled: "), HasSubstr("not permitted")));
}

TEST(SeatbeltPlanTest, RequiredMountsMustBeThere) {
  Policy policy = work_policy();
  policy.mounts = {mount("/Users/me/absent", false), mount("/Users/me/gone", true),
                   mount("/Users/me/.ssh", false)};
  const Error error = refusal(Mac(), policy);
  EXPECT_EQ(error.code, ErrorCode::kDenied);
  EXPECT_EQ(error.message,
            "mounts: /Users/me/absent (No such file or directory), "
            "mounts: /Users/me/gone (No such file or directory)");
}

TEST(SeatbeltPlanTest, MountsThatLeadIntoProtectedPathsAreRefused) {
  Policy policy = work_policy();
  policy.protected_paths = paths({"/Users/me/.ssh"});
  policy.mounts = {mount("/Users/me/link", false)};
  const Mac mac = Mac().link("/Users/me/link", ".ssh");
  EXPECT_THAT(refusal(mac, policy).message,
              HasSubstr("mount /Users/me/link leads to /Users/me/.ssh"));

  policy.protected_paths = paths({"/Users/me/link/id"});
  policy.mounts = {mount("/Users/me/.ssh", false)};
  EXPECT_THAT(refusal(mac, policy).message,
              HasSubstr("protected path /Users/me/link/id leads to /Users/me/.ssh/id"));
}

TEST(SeatbeltPlanTest, AProtectedPathOverStage2IsRefused) {
  Policy policy = work_policy();
  policy.protected_paths = paths({"/usr/local"});
  EXPECT_THAT(refusal(Mac(), policy).message, HasSubstr(kStage2Path));
}

TEST(SeatbeltPlanTest, WhatIsNotAskedSoundlyIsRefused) {
  PlanRequest empty = Mac().request(work_policy());
  empty.command.argv.clear();
  EXPECT_EQ(seatbelt::test::refusal(empty).code, ErrorCode::kInvalidRequest);

  PlanRequest unlooked = Mac().request(work_policy());
  unlooked.policy.readable_roots = paths({"/elsewhere"});
  EXPECT_THAT(seatbelt::test::refusal(unlooked).message, HasSubstr("/elsewhere"));

  PlanRequest homeless = Mac().request(work_policy());
  homeless.private_scratch.reset();
  EXPECT_THAT(seatbelt::test::refusal(homeless).message, HasSubstr("scratch"));

  PlanRequest future = Mac().request(work_policy());
  future.policy.version = 4;
  EXPECT_EQ(seatbelt::test::refusal(future).code, ErrorCode::kUnsupported);

  PlanRequest untabled = Mac().request(work_policy());
  untabled.policy.version = 3;
  EXPECT_THAT(seatbelt::test::refusal(untabled).message, HasSubstr("exec table"));

  PlanRequest capable = Mac().request(work_policy());
  capable.keep_capabilities = {"CAP_NET_RAW"};
  EXPECT_THAT(seatbelt::test::refusal(capable).message, HasSubstr("capabilities"));
}

}  // namespace
}  // namespace loom::seatbelt::test
