#include "environment/build_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace loom {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

AbsolutePath path(std::string_view text) { return *AbsolutePath::parse(text); }

std::vector<AbsolutePath> paths(const std::vector<std::string_view>& texts) {
  std::vector<AbsolutePath> all;
  for (const std::string_view text : texts) all.push_back(path(text));
  return all;
}

std::vector<std::string> candidates(std::string_view requested, std::string_view inherited,
                                    const std::vector<std::string_view>& excluded = {}) {
  std::vector<std::string> texts;
  for (const AbsolutePath& found : path_candidates(requested, inherited, paths(excluded))) {
    texts.push_back(found.str());
  }
  return texts;
}

std::vector<std::string> built(std::map<std::string, std::string> requested,
                               std::vector<std::string> allow,
                               const std::vector<std::string_view>& directories = {},
                               std::optional<std::string> scratch = std::nullopt) {
  return build_environment(EnvironmentRequest{.requested = std::move(requested),
                                              .allow = std::move(allow),
                                              .path_directories = paths(directories),
                                              .scratch_dir = std::move(scratch)});
}

constexpr const char* kFloorEntry = "PATH=/usr/local/bin:/usr/bin:/bin";

// cases.md 111
TEST(BuildEnvironmentTest, OnlyAllowedNamesPassSortedByName) {
  EXPECT_THAT(built({{"PATH", "/x"}, {"HOME", "/work"}, {"SECRET", "s"}}, {"PATH", "HOME"}),
              ElementsAre("HOME=/work", kFloorEntry));
}

// cases.md 112
TEST(BuildEnvironmentTest, AnEmptyAllowlistGivesAnEmptyEnvironment) {
  EXPECT_THAT(built({{"PATH", "/x"}, {"HOME", "/work"}}, {}, {"/opt"}, "/tmp"), IsEmpty());
}

// cases.md 113
TEST(BuildEnvironmentTest, AnAllowedNameNobodyAskedForIsAbsentButForPath) {
  EXPECT_THAT(built({}, {"HOME", "PATH"}), ElementsAre(kFloorEntry));
}

// cases.md 114
TEST(BuildEnvironmentTest, AnAllowedNameIsNoPattern) {
  EXPECT_THAT(built({{"PATH_EXTRA", "x"}, {"path", "y"}}, {"PATH", "PATH_*"}),
              ElementsAre(kFloorEntry));
}

TEST(BuildEnvironmentTest, SortingIsByNameNotByTheWholeEntry) {
  EXPECT_THAT(built({{"A1", "x"}, {"A", "y"}}, {"A1", "A"}), ElementsAre("A=y", "A1=x"));
}

// cases.md 115
TEST(PathCandidatesTest, AbsoluteEntriesOnceInTheOrderMet) {
  EXPECT_THAT(candidates("", "/a:/b:/a::relative:./x:/b/"), ElementsAre("/a", "/b"));
}

// cases.md 115, 119: what the caller found to be directories comes first, then the floor
TEST(BuildEnvironmentTest, TheDirectoriesComeBeforeTheFloor) {
  EXPECT_THAT(built({}, {"PATH"}, {"/a", "/b"}),
              ElementsAre("PATH=/a:/b:/usr/local/bin:/usr/bin:/bin"));
}

// cases.md 116
TEST(PathCandidatesTest, AnEmptyOrHostilePathGivesNothing) {
  EXPECT_THAT(candidates("", ""), IsEmpty());
  EXPECT_THAT(candidates(":::", "."), IsEmpty());
  EXPECT_THAT(candidates("..:bin", std::string_view("/a\0b", 4)), IsEmpty());
}

// cases.md 117
TEST(PathCandidatesTest, AnEntryInsideAnExcludedRootIsDroppedFromEitherList) {
  EXPECT_THAT(candidates("/w/bin:/ok", "/w:/w/bin/.:/wide/bin", {"/w/"}),
              ElementsAre("/ok", "/wide/bin"));
}

TEST(PathCandidatesTest, DotsCannotLeadIntoAnExcludedRoot) {
  EXPECT_THAT(candidates("/ok/../w/bin:/ok", "", {"/w"}), ElementsAre("/ok"));
}

// cases.md 118
TEST(PathCandidatesTest, TheRequestedPathComesFirst) {
  EXPECT_THAT(candidates("/r1:/both", "/i1:/both"), ElementsAre("/r1", "/both", "/i1"));
}

// cases.md 120
TEST(BuildEnvironmentTest, AFloorDirectoryIsListedOnceWhereItWasMet) {
  EXPECT_THAT(built({}, {"PATH"}, {"/bin", "/opt"}),
              ElementsAre("PATH=/bin:/opt:/usr/local/bin:/usr/bin"));
}

// cases.md 121: the caller's excluded roots of a policy with tmpfs scratch, or with a scratch of
// its own
TEST(PathCandidatesTest, ScratchAndWritableRootsAreExcludedAlike) {
  EXPECT_THAT(candidates("/tmp/bin:/work/bin:/usr/games", "", {"/work", "/tmp"}),
              ElementsAre("/usr/games"));
  EXPECT_THAT(candidates("/host/scratch/bin:/work/bin:/tmp/bin", "", {"/work/.", "/host/scratch/"}),
              ElementsAre("/tmp/bin"));
}

// cases.md 122
TEST(BuildEnvironmentTest, TheScratchDirectoryIsNamedWhereThereIsOne) {
  EXPECT_THAT(built({}, {"LOOM_SCRATCH_DIR"}, {}, "/tmp"), ElementsAre("LOOM_SCRATCH_DIR=/tmp"));
  EXPECT_THAT(built({}, {"LOOM_SCRATCH_DIR"}, {}, std::nullopt), IsEmpty());
}

// cases.md 123
TEST(BuildEnvironmentTest, AForgedScratchDirectoryIsReplacedOrDropped) {
  const std::map<std::string, std::string> forged{{"LOOM_SCRATCH_DIR", "/etc"}};

  EXPECT_THAT(built(forged, {"LOOM_SCRATCH_DIR"}, {}, "/tmp"),
              ElementsAre("LOOM_SCRATCH_DIR=/tmp"));
  EXPECT_THAT(built(forged, {"LOOM_SCRATCH_DIR"}), IsEmpty());
  EXPECT_THAT(built(forged, {"HOME"}, {}, "/tmp"), IsEmpty());
}

// cases.md 124
TEST(BuildEnvironmentTest, TmpdirIsTheCallersOwn) {
  EXPECT_THAT(built({{"TMPDIR", "/work/tmp"}}, {"TMPDIR"}, {}, "/tmp"),
              ElementsAre("TMPDIR=/work/tmp"));
}

// cases.md 125
TEST(BuildEnvironmentTest, NoPwdIsAdded) {
  EXPECT_THAT(built({}, {"PWD", "HOME"}), IsEmpty());
  EXPECT_THAT(built({{"PWD", "/x"}}, {"PWD"}), ElementsAre("PWD=/x"));
}

TEST(BuildEnvironmentTest, WhatNoProcessCanBeGivenIsLeftOut) {
  const std::string nul("a\0b", 3);

  EXPECT_THAT(built({{"A=B", "x"}, {"", "x"}, {nul, "x"}, {"N", nul}, {"OK", "="}},
                    {"A=B", "", nul, "N", "OK"}),
              ElementsAre("OK=="));
}

TEST(ScrubLoaderVariablesTest, WhatMakesALinkerRunOtherCodeIsTakenOutAndNamed) {
  std::vector<std::string> environment{"DYLD_INSERT_LIBRARIES=/x",
                                       "GLIBC_TUNABLES=a",
                                       "HOME=/h",
                                       "LD_AUDIT=",
                                       "LD_PRELOAD=/x",
                                       "PATH=/usr/bin"};

  EXPECT_THAT(scrub_loader_variables(environment),
              ElementsAre("DYLD_INSERT_LIBRARIES", "GLIBC_TUNABLES", "LD_AUDIT", "LD_PRELOAD"));
  EXPECT_THAT(environment, ElementsAre("HOME=/h", "PATH=/usr/bin"));
}

TEST(ScrubLoaderVariablesTest, NamesThatOnlyLookAlikeStay) {
  std::vector<std::string> environment{"GLIBC_TUNABLES2=a", "LD=ld", "LDFLAGS=-s", "OLD_LD_X=1"};
  const auto before = environment;

  EXPECT_THAT(scrub_loader_variables(environment), IsEmpty());
  EXPECT_EQ(environment, before);
}

}  // namespace
}  // namespace loom
