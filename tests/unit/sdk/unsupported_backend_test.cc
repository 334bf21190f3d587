#include "unsupported/unsupported_backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace loom::unsupported {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr int kNoEntry = 2;
constexpr int kNoAccess = 13;

class OneSpawnHost final : public HostServices {
 public:
  void log(LogLevel, std::string_view) override {}
  Result<TrialResult> try_launch(const LaunchSpec&, std::uint32_t) override {
    return fail(ErrorCode::kDenied, "not now");
  }
  Result<std::int32_t> spawn(const LaunchSpec& launch) override {
    spawned.push_back(launch);
    return 100;
  }
  Result<ExecObject> next_exec_object() override { return fail(ErrorCode::kDenied, "not now"); }
  Result<std::vector<std::int32_t>> children(std::int32_t) override {
    return fail(ErrorCode::kDenied, "not now");
  }
  std::vector<LaunchSpec> spawned{};
};

AbsolutePath path(std::string_view text) { return *AbsolutePath::parse(text); }

PathFact present(std::string_view text) {
  return {.path = path(text), .real = path(text), .kind = PathKind::kDirectory};
}

PathFact missing(std::string_view text, int error) {
  return {.path = path(text), .real = path(text), .kind = PathKind::kMissing, .error = error};
}

PlanRequest request_on(std::string os) {
  PlanRequest request;
  request.command = {.argv = {"make", "test"}, .environment = {"PATH=/bin"}, .cwd = "/srv"};
  request.facts.os = std::move(os);
  return request;
}

class UnsupportedBackendTest : public ::testing::Test {
 protected:
  Audit audit(const PlanRequest& request) { return *backend_.audit(*backend_.plan(request)); }
  LaunchSpec launch(const PlanRequest& request) {
    return *backend_.render(*backend_.plan(request));
  }

  OneSpawnHost host_;
  UnsupportedBackend backend_{host_};
};

// cases.md 202
TEST_F(UnsupportedBackendTest, ServingIsRefusedNamingTheSystemAndTheFlag) {
  const auto features = backend_.features({.os = "plan9"});

  ASSERT_TRUE(features);
  EXPECT_THAT(features->tags, ElementsAre("rlimits", "pgroup", "degraded", "platform-unsupported"));
  EXPECT_TRUE(features->degraded);
  EXPECT_EQ(features->exec, ExecSupport::kNone);
  EXPECT_THAT(features->refusal, HasSubstr("plan9"));
  EXPECT_THAT(features->refusal, HasSubstr("--allow-unenforced"));
}

TEST_F(UnsupportedBackendTest, WindowsHasNoResourceLimitsToClaim) {
  PlanRequest request = request_on("windows");
  request.policy.limits = {.cpu_s = 5, .fsize_bytes = 10};

  EXPECT_THAT(backend_.features(request.facts)->tags, Not(::testing::Contains("rlimits")));
  EXPECT_THAT(launch(request).child_limits, IsEmpty());
  EXPECT_THAT(audit(request).always[0], HasSubstr("CPU-time ceiling, file-size ceiling"));
}

TEST_F(UnsupportedBackendTest, TheCommandIsLaunchedBareWithItsOwnEnvironment) {
  const LaunchSpec spec = launch(request_on("plan9"));

  EXPECT_EQ(spec, (LaunchSpec{.image = ImageKind::kCommand,
                              .argv = {"make", "test"},
                              .environment = {"PATH=/bin"},
                              .cwd = "/srv"}));
}

TEST_F(UnsupportedBackendTest, AnEmptyDirectoryIsTheRoot) {
  PlanRequest request = request_on("plan9");
  request.command.cwd.clear();

  EXPECT_EQ(launch(request).cwd, "/");
}

TEST_F(UnsupportedBackendTest, CpuAndFileSizeCeilingsAreSetByTheChild) {
  PlanRequest request = request_on("plan9");
  request.policy.limits = {.cpu_s = 60, .fsize_bytes = 4096};

  EXPECT_THAT(launch(request).child_limits,
              ElementsAre(ChildLimit{.resource = ChildLimit::Resource::kFileSize,
                                     .soft = 4096,
                                     .hard = 4096,
                                     .applied_entry = "rlimit-fsize"},
                          ChildLimit{.resource = ChildLimit::Resource::kCpuSeconds,
                                     .soft = 60,
                                     .hard = 61,
                                     .applied_entry = "rlimit-cpu"}));
}

TEST_F(UnsupportedBackendTest, TheHardCpuLimitDoesNotWrap) {
  PlanRequest request = request_on("plan9");
  request.policy.limits.cpu_s = std::numeric_limits<std::uint64_t>::max();

  EXPECT_EQ(launch(request).child_limits[0].hard, std::numeric_limits<std::uint64_t>::max());
}

// cases.md 105
TEST_F(UnsupportedBackendTest, EveryReportIsLedByWhatIsNotHeld) {
  PlanRequest request = request_on("plan9");
  request.policy.protected_paths = {path("/srv/.git")};
  request.policy.limits = {.mem_bytes = 1, .pids = 1};

  const Audit audit = this->audit(request);

  EXPECT_FALSE(audit.expects_witness);
  EXPECT_THAT(audit.when_witnessed, IsEmpty());
  EXPECT_THAT(audit.extras, IsEmpty());
  EXPECT_THAT(audit.always,
              ElementsAre("skip:jail: plan9 has no jail in this build; not held: filesystem view, "
                          "protected paths, private scratch, network cut, memory ceiling, process "
                          "ceiling"));
  EXPECT_THAT(audit.when_silent, ElementsAre(StartsWith("skip:platform-restrictions: ")));
}

TEST_F(UnsupportedBackendTest, WhatWasNotAskedForIsNotCalledMissing) {
  PlanRequest request = request_on("plan9");
  request.policy.network.mode = NetworkMode::kFull;
  request.policy.scratch.host_path = path("/var/tmp");

  EXPECT_THAT(audit(request).always,
              ElementsAre("skip:jail: plan9 has no jail in this build; not held: filesystem view"));
}

TEST_F(UnsupportedBackendTest, AProxyThatNobodyEnforcesIsNamed) {
  PlanRequest request = request_on("plan9");
  request.policy.network.mode = NetworkMode::kProxy;

  EXPECT_THAT(audit(request).when_silent, ElementsAre(StartsWith("skip:platform-restrictions: "),
                                                      StartsWith("skip:network-proxy: ")));
}

TEST_F(UnsupportedBackendTest, OnlyExplicitMountsAreLookedAt) {
  SurveyRequest request;
  request.policy.writable_roots = {path("/srv")};
  request.policy.readable_roots = {path("/opt")};
  request.policy.scratch = {.host_path = path("/var/tmp"), .written = "/var/tmp/"};
  request.policy.mounts = {{.path = path("/a"), .writable = true}, {.path = path("/b")}};

  const auto survey = backend_.survey(request);

  ASSERT_TRUE(survey);
  EXPECT_THAT(survey->paths, ElementsAre(SurveyPath{.path = path("/a"), .role = PathRole::kMount},
                                         SurveyPath{.path = path("/b"), .role = PathRole::kMount}));
  EXPECT_THAT(survey->search_excluded, ElementsAre(path("/srv"), path("/var/tmp"), path("/a")));
  EXPECT_EQ(survey->scratch_dir, "/var/tmp/");
}

TEST_F(UnsupportedBackendTest, ATemporaryScratchHasNoDirectory) {
  EXPECT_EQ(backend_.survey({})->scratch_dir, std::nullopt);
}

TEST_F(UnsupportedBackendTest, AbsentRequiredMountsRefuseByNameAndReason) {
  PlanRequest request = request_on("plan9");
  request.policy.mounts = {{.path = path("/a"), .required = true},
                           {.path = path("/b"), .required = true},
                           {.path = path("/c"), .required = false},
                           {.path = path("/d"), .required = true}};
  request.facts.paths = {missing("/a", kNoEntry), present("/b"), missing("/c", kNoEntry),
                         missing("/d", kNoAccess)};

  const auto plan = backend_.plan(request);

  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, ErrorCode::kDenied);
  EXPECT_EQ(plan.error().message,
            "mounts: /a (No such file or directory), mounts: /d (Permission denied)");

  request.facts.paths[0] = present("/a");
  request.facts.paths[3] = present("/d");
  EXPECT_TRUE(backend_.plan(request));
}

// guard 5.1; design D15
TEST_F(UnsupportedBackendTest, APolicyOfVersion3IsRefusedWhateverItsTableSays) {
  for (const bool required : {true, false}) {
    PlanRequest request = request_on("plan9");
    request.policy.version = 3;
    request.exec = ExecRules{.restrictive = false, .required = required};

    const auto plan = backend_.plan(request);

    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().code, ErrorCode::kUnsupported);
    EXPECT_THAT(plan.error().message, StartsWith("confinement_unavailable: plan9 "));
    request.exec.reset();
    request.policy.version = 2;
    EXPECT_TRUE(backend_.plan(request));
  }
}

TEST_F(UnsupportedBackendTest, TheWholeGroupIsStoppedOnEveryRung) {
  for (const Rung rung : {Rung::kTerm, Rung::kKill, Rung::kSettle}) {
    EXPECT_EQ(*backend_.targets({.rung = rung, .child = 5}), Targets{});
  }
}

TEST_F(UnsupportedBackendTest, StartSpawnsTheLaunchItWasGivenOnce) {
  const LaunchSpec spec = launch(request_on("plan9"));

  ASSERT_TRUE(backend_.start(spec));

  EXPECT_THAT(host_.spawned, ElementsAre(spec));
}

TEST_F(UnsupportedBackendTest, ThePlanIsTheSameTwice) {
  EXPECT_EQ(*backend_.plan(request_on("plan9")), *backend_.plan(request_on("plan9")));
}

}  // namespace
}  // namespace loom::unsupported
