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

TEST(AbsolutePathTest, ADriveIsTheFirstComponentWhereThereAreDrives) {
  EXPECT_EQ(spell_drive_path("C:\\Work\\x"), "/C:/Work/x");
  EXPECT_EQ(spell_drive_path("c:/Work\\x"), "/C:/Work/x");
  EXPECT_EQ(spell_drive_path("z:\\"), "/Z:/");
  for (const char* other : {"", "C:", "C:x", "/C:/x", "\\\\server\\x", "1:\\x", "@:/x", "work"}) {
    EXPECT_EQ(spell_drive_path(other), std::nullopt) << other;
  }
}

TEST(AbsolutePathTest, OnWindowsEverySpellingOfARegionBecomesOne) {
  const struct {
    std::string_view written;
    std::string_view clean;
  } kCases[] = {
      {"C:\\work", "/C:/work"},
      {"c:/work/", "/C:/work"},
      {"/c:/work", "/C:/work"},
      {"/C:/work", "/C:/work"},
      {"C:\\a\\..\\b", "/C:/b"},
      {"C:\\a/./..\\b\\", "/C:/b"},
      // No "..", however many, is another drive or the system's.
      {"D:\\..\\..\\x", "/D:/x"},
      {"/d:/../x/..", "/D:"},
      {"d:\\", "/D:"},
      {"/d:", "/D:"},
      {"/D:/", "/D:"},
      {"/", "/"},
      {"/..", "/"},
      {"/tmp//x/../y", "/tmp/y"},
      {"/x/c:/y", "/x/c:/y"},
      {"/cd:/y", "/cd:/y"},
  };
  for (const auto& [written, clean] : kCases) {
    SCOPED_TRACE(written);
    const auto parsed = AbsolutePath::parse_with_drives(written);

    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->str(), clean);
    EXPECT_EQ(AbsolutePath::parse_with_drives(parsed->str())->str(), clean);
  }
}

TEST(AbsolutePathTest, OnWindowsNothingHidesComponentsFromTheType) {
  for (const std::string& text :
       {std::string("/C:\\a\\..\\b"), std::string("/C:\\work"), std::string("/C:/a\\..\\b"),
        std::string("/tmp\\x"), std::string("/\\server\\share"), std::string("//server/share"),
        std::string("\\\\server\\share"), std::string("\\\\?\\C:\\x"), std::string("\\rooted"),
        std::string("/x/../C:/work"), std::string("/./c:"), std::string("C:relative"),
        std::string("C:"), std::string("work"), std::string(), std::string("C:\\a\0b", 6)}) {
    SCOPED_TRACE(text);
    const auto parsed = AbsolutePath::parse_with_drives(text);

    ASSERT_FALSE(parsed);
    EXPECT_EQ(parsed.error().code, ErrorCode::kInvalidRequest);
  }
}

TEST(AbsolutePathTest, WithoutDrivesABackslashIsAByteLikeAnyOther) {
  EXPECT_FALSE(AbsolutePath::is_absolute("C:\\x"));
  EXPECT_FALSE(AbsolutePath::parse("C:\\x"));
  EXPECT_TRUE(AbsolutePath::is_absolute("/C:/x"));
  EXPECT_EQ(path("/c:\\a\\..\\b").str(), "/c:\\a\\..\\b");
  EXPECT_EQ(path("/c:/../x").str(), "/x");
}

}  // namespace
}  // namespace loom
