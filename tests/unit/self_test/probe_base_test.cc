#include "app/self_test/probe_base.h"

#include <gmock/gmock.h>

namespace loom::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

AbsolutePath path(const char* text) { return *AbsolutePath::parse(text); }

Result<AbsolutePath> choose(const char* temporary, const char* var_tmp) {
  BaseCandidates candidates{.os = "linux",
                            .temporary = path(temporary),
                            .var_tmp = std::nullopt,
                            .system_roots = {path("/usr"), path("/var/lib")}};
  if (var_tmp != nullptr) candidates.var_tmp = path(var_tmp);
  return choose_probe_base(candidates);
}

// cases.md 237
TEST(ProbeBaseTest, NothingBelowTmpIsEverChosen) {
  for (const char* temporary : {"/tmp", "/tmp/build", "/tmp/a/b"}) {
    EXPECT_EQ(choose(temporary, "/var/tmp"), path("/var/tmp")) << temporary;
    EXPECT_FALSE(choose(temporary, nullptr)) << temporary;
    EXPECT_FALSE(choose(temporary, "/tmp/var")) << temporary;  // /var/tmp may be a link
  }
}

// cases.md 237
TEST(ProbeBaseTest, ANameThatOnlyBeginsLikeTmpIsAPlaceOfItsOwn) {
  EXPECT_EQ(choose("/tmpfs/x", "/var/tmp"), path("/tmpfs/x"));
  EXPECT_EQ(choose("/home/user/tmp", "/var/tmp"), path("/home/user/tmp"));
}

TEST(ProbeBaseTest, WhatEveryJailShowsOrCoversIsNoPlaceForASecret) {
  for (const char* temporary : {"/dev/shm", "/proc/1/cwd", "/usr/tmp", "/var/lib/builder/tmp"}) {
    EXPECT_EQ(choose(temporary, "/var/tmp"), path("/var/tmp")) << temporary;
  }
}

TEST(ProbeBaseTest, WithoutAPlaceTheReasonNamesTheVariableThatHelps) {
  const auto chosen = choose("/tmp", nullptr);

  ASSERT_FALSE(chosen);
  EXPECT_THAT(chosen.error().message, HasSubstr("TMPDIR"));
}

TEST(ProbeBaseTest, MacosHasAPlaceThatNoScratchCovers) {
  EXPECT_EQ(choose_probe_base({.os = "darwin",
                               .temporary = path("/var/folders/x"),
                               .var_tmp = path("/var/tmp"),
                               .system_roots = {}}),
            path("/private/tmp"));
}

TEST(ProbeBaseTest, OneLayerOfMacosKeepsFilesAndNetworkApart) {
  EXPECT_EQ(jail_tags("darwin"), (JailTags{.file_system = "seatbelt", .network = "seatbelt"}));
  EXPECT_EQ(jail_tags("linux"), (JailTags{.file_system = "bwrap", .network = "seccomp"}));
}

TEST(ProbeBaseTest, TheBasePolicyGrantsOneDirectoryAndNothingElse) {
  const Policy policy = base_policy(path("/var/tmp/d"));

  EXPECT_THAT(policy.writable_roots, ElementsAre(path("/var/tmp/d")));
  EXPECT_THAT(policy.readable_roots, IsEmpty());
  EXPECT_THAT(policy.protected_paths, IsEmpty());
  EXPECT_THAT(policy.mounts, IsEmpty());
  EXPECT_EQ(policy.network.mode, NetworkMode::kOff);
  EXPECT_EQ(policy.limits, (Limits{.wall_s = 30, .output_bytes = 1u << 20}));
  EXPECT_THAT(policy.env_allow, ElementsAre("PATH"));
  EXPECT_TRUE(policy.scratch.is_tmpfs());
}

}  // namespace
}  // namespace loom::app
