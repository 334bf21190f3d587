#include "guard/placeholder.h"

#include <gtest/gtest.h>

#include <string>

#include "guard_support.h"

namespace loom::guard {
namespace {

class PlaceholderTest : public ::testing::Test {
 protected:
  // By name and by handle, which must agree.
  [[nodiscard]] bool is_one(std::string_view name) const {
    const UniqueFd parent(::open(tree_.at("/w").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    const UniqueFd handle(
        ::open(tree_.at("/w/" + std::string(name)).c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    const bool by_name = is_placeholder(parent.get(), std::string(name).c_str());
    EXPECT_EQ(is_placeholder(handle.get()), by_name) << name;
    return by_name;
  }

  Tree tree_;
};

TEST_F(PlaceholderTest, AnEmptyLeafIsOneAndNothingElseThatIsEmpty) {
  tree_.directory("/w/leaf", kLeafMode);
  tree_.directory("/w/intermediate", kIntermediateMode);
  EXPECT_TRUE(is_one("leaf"));
  EXPECT_TRUE(is_one("intermediate"));
  for (const mode_t mode : {0755u, 0444u, 01777u, 01744u, 01555u, 05755u, 03444u, 01445u}) {
    tree_.directory("/w/other", mode);
    EXPECT_FALSE(is_one("other")) << std::oct << mode;
  }
  tree_.file("/w/file", "", kLeafMode);
  EXPECT_FALSE(is_one("file"));
  tree_.link("leaf", "/w/link");
  EXPECT_FALSE(is_one("link"));
  EXPECT_FALSE(is_one("none"));
}

TEST_F(PlaceholderTest, AnOrdinaryUserSeesThemToo) {
  const OrdinaryUser ordinary;
  const Tree own;
  own.directory("/w/i/leaf");
  own.directory("/w/i/leaf", kLeafMode);
  own.directory("/w/i", kIntermediateMode);
  const UniqueFd way(::open(own.at("/w/i").c_str(), O_PATH | O_CLOEXEC));
  const UniqueFd leaf(::openat(way.get(), "leaf", O_PATH | O_CLOEXEC));

  EXPECT_TRUE(is_placeholder(way.get()));
  EXPECT_TRUE(is_placeholder(leaf.get()));
  EXPECT_TRUE(is_placeholder(way.get(), "leaf"));
  own.directory("/w/i/leaf", 0755);
  EXPECT_FALSE(is_placeholder(leaf.get()));
  EXPECT_FALSE(is_placeholder(way.get()));
}

TEST_F(PlaceholderTest, AnIntermediateHoldsNothingButPlaceholders) {
  tree_.directory("/w/a/b/leaf");
  tree_.directory("/w/a/b/leaf", kLeafMode);
  tree_.directory("/w/a/b", kIntermediateMode);
  tree_.directory("/w/a/other", kLeafMode);
  tree_.directory("/w/a", kIntermediateMode);
  EXPECT_TRUE(is_one("a"));

  tree_.file("/w/a/b/file", "");
  EXPECT_FALSE(is_one("a"));
  std::filesystem::remove(tree_.at("/w/a/b/file"));
  EXPECT_TRUE(is_one("a"));
  tree_.link("leaf", "/w/a/b/link");
  EXPECT_FALSE(is_one("a"));
  std::filesystem::remove(tree_.at("/w/a/b/link"));
  tree_.fifo("/w/a/b/fifo");
  EXPECT_FALSE(is_one("a"));
  std::filesystem::remove(tree_.at("/w/a/b/fifo"));
  tree_.directory("/w/a/b/plain");
  EXPECT_FALSE(is_one("a"));
}

// Another run may have made a name below it, and not yet have said so in its mode.
TEST_F(PlaceholderTest, ALeafMayHoldPlaceholdersAndNothingElse) {
  if (::geteuid() != 0) GTEST_SKIP() << "only the superuser makes names where nobody may search";
  tree_.directory("/w/leaf/inside");
  tree_.directory("/w/leaf/inside", kLeafMode);
  tree_.directory("/w/leaf", kLeafMode);
  EXPECT_TRUE(is_one("leaf"));

  tree_.directory("/w/leaf/inside", 0755);
  EXPECT_FALSE(is_one("leaf"));
  tree_.directory("/w/leaf/inside", kLeafMode);
  tree_.file("/w/leaf/file", "");
  EXPECT_FALSE(is_one("leaf"));
}

TEST_F(PlaceholderTest, WhatCannotBeListedIsNone) {
  if (::geteuid() != 0) GTEST_SKIP() << "it takes the superuser to make somebody else's directory";
  const auto made = [this](mode_t mode, const char* name) {
    tree_.directory(name, mode);
    ASSERT_EQ(::chown(tree_.at(name).c_str(), 12'345, 12'345), 0);
    ASSERT_EQ(::chmod(tree_.at(name).c_str(), mode), 0);
  };
  made(kLeafMode, "/w/leaf");
  made(01755, "/w/way");
  ASSERT_EQ(::mkdir(tree_.at("/w/way/closed").c_str(), 0), 0);
  const OrdinaryUser ordinary;

  EXPECT_TRUE(is_one("leaf")) << "everybody may list it";
  EXPECT_FALSE(is_one("way"));
}

TEST_F(PlaceholderTest, TheSearchHasABoundInWidthAndDepth) {
  const Tree tree(place_in_memory());
  const auto is_one_in = [&tree](std::string_view name) {
    const UniqueFd handle(::open(tree.at(name).c_str(), O_PATH | O_CLOEXEC));
    return is_placeholder(handle.get());
  };
  tree.directory("/w/wide");
  for (int i = 0; i < 4'096; ++i) tree.directory("/w/wide/" + std::to_string(i), kLeafMode);
  tree.directory("/w/wide", kIntermediateMode);
  EXPECT_TRUE(is_one_in("/w/wide"));
  tree.directory("/w/wide/one-more", kLeafMode);
  EXPECT_FALSE(is_one_in("/w/wide"));

  std::string name = "/w/deep";
  tree.directory(name, kIntermediateMode);
  for (int depth = 2; depth <= 256; ++depth) tree.directory(name += "/d", kIntermediateMode);
  EXPECT_TRUE(is_one_in("/w/deep"));
  tree.directory(name + "/d", kIntermediateMode);
  EXPECT_FALSE(is_one_in("/w/deep"));
}

TEST_F(PlaceholderTest, NoDescriptorStaysOpenAndTheHandleStaysTheCallers) {
  tree_.directory("/w/a/leaf");
  tree_.directory("/w/a/leaf", kLeafMode);
  tree_.directory("/w/a", kIntermediateMode);
  const UniqueFd handle(::open(tree_.at("/w/a").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const auto open_now = [] {
    const std::filesystem::directory_iterator listing("/proc/self/fd");
    return std::distance(begin(listing), end(listing));
  };
  const auto before = open_now();

  EXPECT_TRUE(is_placeholder(handle.get()));
  EXPECT_TRUE(is_placeholder(handle.get())) << "a second look lists it from the start";
  EXPECT_EQ(open_now(), before);
}

}  // namespace
}  // namespace loom::guard
