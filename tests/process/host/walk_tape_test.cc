#include "host/walk_tape.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "guard/placeholder.h"
#include "host/path_survey.h"
#include "process_support.h"

namespace loom::host {
namespace {

namespace fs = std::filesystem;

// All that a plan learns of a walk.
struct Findings {
  std::vector<PathFact> paths;
  std::vector<DirectoryFact> directories;

  bool operator==(const Findings&) const = default;
};

class Tree {
 public:
  Tree() {
    fs::create_directories(at("dir/sub"));
    fs::create_directories(at("other/sub"));
    write("dir/file");
    write("dir/sub/deep");
    write("other/file");
    fs::create_symlink("dir/file", at("link"));         // at the end of a path
    fs::create_symlink("dir", at("way"));               // on the way
    fs::create_symlink("dir/nothing", at("dangling"));  // to nothing
  }

  std::string at(const std::string& name) const { return directory_ / name; }
  void write(const std::string& name) const { std::ofstream(at(name)) << "x"; }

  std::pair<Findings, WalkTape> walk() const {
    PathSurveyor surveyor;
    Findings found;
    for (const char* name : {"dir/file", "dir/sub", "dir/sub/deep", "other", "link", "way",
                             "way/file", "dangling", "none", "none/below", "dir/file/below"}) {
      found.paths.push_back(surveyor.look(*AbsolutePath::parse(at(name))));
      PathFact& fact = found.paths.back();
      if (fact.kind == PathKind::kDirectory) fact.link_count = 0;
    }
    found.directories = surveyor.directories();
    return {std::move(found), surveyor.take_tape()};
  }

 private:
  TemporaryDirectory directory_;
};

TEST(WalkTapeTest, ATapeOfNothingDoesNotHold) { EXPECT_FALSE(WalkTape().still_holds()); }

TEST(WalkTapeTest, WhatNobodyTouchedStillHoldsAndLeavesNothingOpen) {
  const Tree tree;
  const auto [found, tape] = tree.walk();
  const auto before = open_descriptors();

  EXPECT_TRUE(tape.still_holds());
  EXPECT_TRUE(tape.still_holds()) << "as often as it is asked";
  EXPECT_EQ(open_descriptors(), before);
}

TEST(WalkTapeTest, WhateverAPlanLearnsOfIsMissed) {
  const std::pair<const char*, std::function<void(const Tree&)>> changes[] = {
      {"a file is another one",
       [](const Tree& tree) { fs::rename(tree.at("other/file"), tree.at("dir/file")); }},
      {"a file is gone", [](const Tree& tree) { fs::remove(tree.at("dir/file")); }},
      {"a file has one more name",
       [](const Tree& tree) { fs::create_hard_link(tree.at("dir/file"), tree.at("second")); }},
      {"a directory is another one",
       [](const Tree& tree) {
         fs::rename(tree.at("dir/sub"), tree.at("dir/gone"));
         fs::rename(tree.at("other/sub"), tree.at("dir/sub"));
       }},
      {"a directory above is another one",
       [](const Tree& tree) {
         fs::rename(tree.at("dir"), tree.at("gone"));
         fs::rename(tree.at("other"), tree.at("dir"));
       }},
      {"a directory above is reached by a link",
       [](const Tree& tree) {
         fs::rename(tree.at("dir"), tree.at("real"));
         fs::create_symlink("real", tree.at("dir"));
       }},
      {"what was not there is there", [](const Tree& tree) { tree.write("none"); }},
      {"the target of a link is there", [](const Tree& tree) { tree.write("dir/nothing"); }},
      {"a link leads elsewhere",
       [](const Tree& tree) {
         fs::remove(tree.at("link"));
         fs::create_symlink("other/file", tree.at("link"));
       }},
      {"a link on the way leads elsewhere",
       [](const Tree& tree) {
         fs::remove(tree.at("way"));
         fs::create_symlink("other", tree.at("way"));
       }},
      {"a link has another text and the same target",
       [](const Tree& tree) {
         fs::remove(tree.at("link"));
         fs::create_symlink("./dir/file", tree.at("link"));
       }},
      {"everybody may write where a link lies",  // and links of others are not followed then
       [](const Tree& tree) {
         ASSERT_EQ(::chmod(fs::path(tree.at("link")).parent_path().c_str(), 01777), 0);
       }},
      {"a link is what it led to",
       [](const Tree& tree) {
         fs::remove(tree.at("link"));
         fs::create_hard_link(tree.at("dir/file"), tree.at("link"));
       }},
  };
  for (const auto& [name, change] : changes) {
    SCOPED_TRACE(name);
    const Tree tree;
    const auto [found, tape] = tree.walk();
    ASSERT_TRUE(tape.still_holds());

    change(tree);

    EXPECT_FALSE(tape.still_holds());
  }
}

TEST(WalkTapeTest, HowManyDirectoriesADirectoryHoldsIsNothingToAPlan) {
  const Tree tree;
  const auto [found, tape] = tree.walk();
  fs::create_directory(tree.at("dir/another"));
  EXPECT_TRUE(tape.still_holds());
}

TEST(WalkTapeTest, ThereAndBackStillHolds) {
  const Tree tree;
  const auto [found, tape] = tree.walk();
  fs::rename(tree.at("dir"), tree.at("elsewhere"));
  ASSERT_FALSE(tape.still_holds());
  fs::rename(tree.at("elsewhere"), tree.at("dir"));
  EXPECT_TRUE(tape.still_holds());
  EXPECT_EQ(tree.walk().first, found);
}

TEST(WalkTapeTest, APlaceholderThatHoldsSomethingIsNoneAnyMore) {
  const Tree tree;
  fs::create_directory(tree.at("none"));
  ASSERT_EQ(::chmod(tree.at("none").c_str(), guard::kIntermediateMode), 0);
  const auto [found, tape] = tree.walk();
  tree.write("none/file");  // its directory is the same in every other way
  ASSERT_TRUE(fs::exists(tree.at("none/file")));
  EXPECT_FALSE(tape.still_holds());
}

TEST(WalkTapeTest, ALongWalkIsMadeAgain) {
  const Tree tree;
  PathSurveyor surveyor;
  const std::string longest(250, 'x');
  for (std::size_t asked = 0; asked <= WalkTape::kMaxBytes; asked += longest.size()) {
    (void)surveyor.look(*AbsolutePath::parse(tree.at("dir/") + longest));
  }
  const WalkTape tape = surveyor.take_tape();
  EXPECT_FALSE(tape.may_hold());
  EXPECT_FALSE(tape.still_holds());
}

// Names change at random in a small tree, so that many a tape holds and many a one does not. One
// that holds must have found what a walk finds now.
TEST(WalkTapeTest, WhatStillHoldsIsWhatAWalkWouldFind) {
  const Tree tree;
  constexpr int kRounds = 2'000;
  const std::array<std::string, 12> names = {"dir",      "other", "link",        "way",
                                             "dangling", "none",  "dir/file",    "dir/sub",
                                             "none/x",   "spare", "dir/nothing", "other/file"};
  std::minstd_rand random(4711);  // NOLINT(cert-msc51-cpp): the same each time
  const auto any = [&] { return tree.at(names[random() % names.size()]); };
  int held = 0;
  int missed = 0;
  for (int round = 0; round < kRounds; ++round) {
    const auto [found, tape] = tree.walk();
    const std::string one = any();
    const std::string other = any();
    std::error_code ignored;
    switch (random() % 7) {
      case 0:
        fs::rename(one, other, ignored);
        break;
      case 1:
        fs::create_hard_link(one, other, ignored);
        break;
      case 2:
        fs::create_symlink(fs::path(other).filename(), one, ignored);
        break;
      case 3:
        fs::remove(one, ignored);
        break;
      case 4:
        fs::create_directory(one, ignored);
        break;
      case 5:
        std::ofstream(one, std::ios::app) << "x";
        break;
      default:
        fs::rename(one, tree.at("aside"), ignored);
        fs::rename(other, one, ignored);
        fs::rename(tree.at("aside"), other, ignored);
    }
    const bool holds = tape.still_holds();
    ++(holds ? held : missed);
    if (!holds) continue;
    ASSERT_EQ(tree.walk().first, found) << "round " << round << ": " << one << ' ' << other;
  }
  EXPECT_GT(held, kRounds / 10);
  EXPECT_GT(missed, kRounds / 10);
}

}  // namespace
}  // namespace loom::host
