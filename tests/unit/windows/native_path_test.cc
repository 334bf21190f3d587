#include "host/windows/native_path.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace loom::windows {
namespace {

using Names = std::vector<std::string>;

TEST(NativePathTest, FullPathsNameOnePlace) {
  for (const char* full : {"C:\\work", "c:/work", "/C:/work", "/", "/tmp"}) {
    EXPECT_TRUE(is_full_path(full)) << full;
  }
  for (const char* other :
       {"", "work", "C:work", "C:", "\\work", "\\\\server\\share", "//server/share", "\\\\.\\NUL",
        "\\\\?\\C:\\x", "/\\server", "/C:\\work", "/C:\\a\\..\\b", "/tmp\\x"}) {
    EXPECT_FALSE(is_full_path(other)) << other;
  }
  EXPECT_FALSE(is_full_path(std::string_view("C:\\a\0b", 6)));
}

TEST(NativePathTest, EverySpellingBecomesWindows) {
  EXPECT_EQ(native_path("C:\\work\\x", "D:"), "C:\\work\\x");
  EXPECT_EQ(native_path("C:/work/x", "D:"), "C:\\work\\x");
  EXPECT_EQ(native_path("/C:/work/x", "D:"), "C:\\work\\x");
  EXPECT_EQ(native_path("/C:", "D:"), "C:\\");
  EXPECT_EQ(native_path("/", "D:"), "D:\\");
  EXPECT_EQ(native_path("/tmp/x", "D:"), "D:\\tmp\\x");
}

TEST(NativePathTest, SearchListsKeepWhatHasADrive) {
  const std::vector<AbsolutePath> writable = {*AbsolutePath::parse("/C:/Work")};

  EXPECT_EQ(search_directories("C:\\bin;;relative;\"C:\\a b\";c:/BIN;\\rooted;D:\\x", {}, "C:"),
            (Names{"C:\\bin", "C:\\a b", "D:\\x"}));
  EXPECT_EQ(search_directories("c:\\work;C:\\WORK\\bin;C:\\workshop", writable, "C:"),
            (Names{"C:\\workshop"}));
}

TEST(NativePathTest, ARegionIsLeftOutHoweverItIsSpelled) {
  const auto kept = [](const char* region) {
    return search_directories("C:\\work\\bin;D:\\work\\bin", {*AbsolutePath::parse(region)}, "C:");
  };

  EXPECT_EQ(kept("/work"), (Names{"D:\\work\\bin"}));
  EXPECT_EQ(kept("/D:/work"), (Names{"C:\\work\\bin"}));
  // One component here, several to Windows.
  EXPECT_EQ(kept("/C:\\work"), (Names{"D:\\work\\bin"}));
  EXPECT_EQ(kept("/C:\\x\\..\\work"), (Names{"D:\\work\\bin"}));
  EXPECT_EQ(kept("/elsewhere").size(), 2U);
  EXPECT_TRUE(kept("/").empty());
}

TEST(NativePathTest, ARegionIsLeftOutByEachNameThatWindowsHasForIt) {
  const auto kept = [](const std::string& list) {
    return search_directories(list, {*AbsolutePath::parse("/D:/work")}, "C:");
  };

  for (const char* entry :
       {"D:\\work", "D:\\..\\work", "d:\\x\\..\\..\\Work\\bin", "D:\\work.", "D:\\work ",
        "D:\\work. .\\bin", "D:\\work::$INDEX_ALLOCATION", "D:\\x:y\\..\\work"}) {
    EXPECT_TRUE(kept(entry).empty()) << entry;
  }
  for (const std::string entry :
       {"D:\\..\\worker", "D:\\work.er", "D:\\.work", "D:\\", "C:\\work"}) {
    EXPECT_EQ(kept(entry), (Names{entry}));
  }
}

TEST(NativePathTest, OnlyProgramsAreStarted) {
  for (const char* name : {"C:\\x.exe", "C:\\X.EXE", "C:\\d.bat\\x.com"})
    EXPECT_TRUE(is_startable_name(name)) << name;
  for (const char* name :
       {"C:\\x.bat", "C:\\x.CMD", "C:\\x.bat.", "C:\\x.bat ", "C:\\x.exe.bat", "C:\\x.exe ",
        "C:\\x", "C:\\x.bat:y.exe", "C:\\x.exe:$DATA", "C:\\x.ps1"}) {
    EXPECT_FALSE(is_startable_name(name)) << name;
  }
}

TEST(NativePathTest, CandidatesOfAProgram) {
  const Names search = {"C:\\one", "D:\\"};

  EXPECT_EQ(program_candidates("make", "C:\\w", "C:", search),
            (Names{"C:\\one\\make.exe", "D:\\make.exe"}));
  EXPECT_EQ(program_candidates("make.com", "C:\\w", "C:", search),
            (Names{"C:\\one\\make.com", "D:\\make.com"}));
  EXPECT_EQ(program_candidates("./make", "C:\\w", "C:", search), (Names{"C:\\w\\.\\make.exe"}));
  EXPECT_EQ(program_candidates("C:\\x\\make", "C:\\w", "C:", search), (Names{"C:\\x\\make.exe"}));
  EXPECT_EQ(program_candidates("/D:/x/make.exe", "C:\\w", "C:", search),
            (Names{"D:\\x\\make.exe"}));
  for (const char* elsewhere : {"C:make", "\\make", "\\\\server\\make.exe", "x:y.exe"}) {
    EXPECT_TRUE(program_candidates(elsewhere, "C:\\w", "C:", search).empty()) << elsewhere;
  }
}

}  // namespace
}  // namespace loom::windows
