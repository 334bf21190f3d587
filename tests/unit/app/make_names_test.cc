#include "app/make_names.h"

#include <gtest/gtest.h>

namespace loom::app {
namespace {

AbsolutePath path(const char* text) { return *AbsolutePath::parse(text); }

// A host on which /w/a and /w/a/b are placeholders for the protected path /w/a/b.
HostFacts made_host() {
  HostFacts facts;
  facts.paths = {{.path = path("/link/b"),
                  .real = path("/w/a/b"),
                  .kind = PathKind::kMissing,
                  .identity = {.device = 1, .inode = 12}}};
  facts.directories = {
      {.path = path("/w"), .identity = {.device = 1, .inode = 10}},
      {.path = path("/w/a"), .identity = {.device = 1, .inode = 11}, .placeholder = true}};
  return facts;
}

const std::vector<MadeName> kNames = {{.path = *AbsolutePath::parse("/w/a"), .intermediate = true},
                                      {.path = *AbsolutePath::parse("/w/a/b")}};
const std::vector<FileIdentity> kMade = {{.device = 1, .inode = 11}, {.device = 1, .inode = 12}};

TEST(ShowsMadeNamesTest, EveryNameMustBeThePlaceholderThatWasMade) {
  EXPECT_TRUE(shows_made_names(made_host(), kNames, kMade));
}

TEST(ShowsMadeNamesTest, AnotherPlaceholderUnderTheNameIsNotIt) {
  std::vector<FileIdentity> made = kMade;
  made[1].inode = 13;

  EXPECT_FALSE(shows_made_names(made_host(), kNames, made));
}

TEST(ShowsMadeNamesTest, AnOrdinaryDirectoryOnTheWayIsNotIt) {
  HostFacts facts = made_host();
  facts.directories[1].placeholder = false;

  EXPECT_FALSE(shows_made_names(facts, kNames, kMade));
}

TEST(ShowsMadeNamesTest, SomethingUnderTheNameIsNotIt) {
  HostFacts facts = made_host();
  facts.paths[0].kind = PathKind::kDirectory;

  EXPECT_FALSE(shows_made_names(facts, kNames, kMade));
}

TEST(ShowsMadeNamesTest, ANameThatTheFactsDoNotKnowIsNotIt) {
  HostFacts facts = made_host();
  facts.paths.clear();

  EXPECT_FALSE(shows_made_names(facts, kNames, kMade));
}

}  // namespace
}  // namespace loom::app
