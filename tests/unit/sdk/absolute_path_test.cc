#include <gtest/gtest.h>
#include <loom/absolute_path.h>

#include <string>

namespace loom {
namespace {

AbsolutePath path(std::string_view text) { return *AbsolutePath::parse(text); }

TEST(AbsolutePathTest, EverySpellingOfARegionBecomesOne) {
  const struct {
    std::string_view written;
    std::string_view clean;
  } kCases[] = {
      {"/", "/"},
      {"//", "/"},
      {"/.", "/"},
      {"/..", "/"},
      {"/srv/app", "/srv/app"},
      {"/srv/app/", "/srv/app"},
      {"//srv///app//", "/srv/app"},
      {"/srv/./app/.", "/srv/app"},
      {"/srv/x/../app", "/srv/app"},
      {"/srv/../..", "/"},
      {"/../srv", "/srv"},
      {"/.git", "/.git"},
      {"/a/..b", "/a/..b"},
      {"/a/...", "/a/..."},
      {"/\xFF", "/\xFF"},
  };
  for (const auto& [written, clean] : kCases) {
    SCOPED_TRACE(written);
    const auto parsed = AbsolutePath::parse(written);

    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->str(), clean);
    EXPECT_EQ(AbsolutePath::parse(parsed->str())->str(), clean);
  }
}

TEST(AbsolutePathTest, WhatIsNotAbsoluteIsRefused) {
  for (const std::string& text : {std::string(), std::string("srv"), std::string("./srv"),
                                  std::string(" /srv"), std::string("/srv\0/x", 7)}) {
    SCOPED_TRACE(text);
    const auto parsed = AbsolutePath::parse(text);

    ASSERT_FALSE(parsed);
    EXPECT_EQ(parsed.error().code, ErrorCode::kInvalidRequest);
  }
}

TEST(AbsolutePathTest, ContainmentIsByComponent) {
  EXPECT_TRUE(path("/srv/data").is_within(path("/srv")));
  EXPECT_TRUE(path("/srv").is_within(path("/srv")));
  EXPECT_TRUE(path("/srv").is_within(path("/")));
  EXPECT_TRUE(path("/").is_within(path("/")));
  EXPECT_FALSE(path("/srv-old").is_within(path("/srv")));
  EXPECT_FALSE(path("/srv").is_within(path("/srv/data")));
  EXPECT_FALSE(path("/").is_within(path("/srv")));
}

TEST(AbsolutePathTest, ParentAndNameTakeApartWhatTheyPutTogether) {
  EXPECT_EQ(path("/srv/app").parent(), path("/srv"));
  EXPECT_EQ(path("/srv/app").name(), "app");
  EXPECT_EQ(path("/srv").parent(), path("/"));
  EXPECT_EQ(path("/srv").name(), "srv");
  EXPECT_EQ(path("/").parent(), path("/"));
  EXPECT_EQ(path("/").name(), "");
}

}  // namespace
}  // namespace loom
