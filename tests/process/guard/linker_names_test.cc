#include "guard/linker_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <string>

#include "guard_support.h"

namespace loom::guard {
namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAre;

TEST(LinkerNamesTest, ALinkerIsALibraryWhoseNameBeginsWithLd) {
  for (const char* const name : {"ld.so", "ld.so.1", "ld-linux-x86-64.so.2", "ld-musl-x86_64.so.1",
                                 "ld-2.31.so", "ld64.so.2"}) {
    EXPECT_TRUE(is_linker_name(name)) << name;
  }
  for (const char* const name :
       {"", "l", "ld", "ld-linux", "libld.so", "xld.so.2", "LD.so", "ld.s"}) {
    EXPECT_FALSE(is_linker_name(name)) << name;
  }
}

// guard 3.7
TEST(LinkerNamesTest, TheyAreInTheListedDirectoriesAndOneLevelBelowTwoOfThem) {
  const Tree tree;
  for (const char* const name : {"/lib/arch/deep", "/lib64/below", "/lib32", "/usr/lib/arch/deep",
                                 "/usr/lib64", "/usr/lib32", "/usr/libexec", "/etc"}) {
    tree.directory(name);
    tree.file(std::string(name) + "/ld.so");
    tree.file(std::string(name) + "/libc.so");
  }
  tree.file("/lib/ld.so");
  tree.file("/lib64/ld.so");
  tree.file("/usr/lib/ld.so");
  tree.file("/lib/arch/ld.so");
  tree.file("/usr/lib/arch/ld.so");
  tree.directory("/elsewhere");
  tree.file("/elsewhere/ld.so");
  tree.link("../elsewhere", "/lib/link");

  EXPECT_THAT(LinkerNames(tree.at("")).find(),
              UnorderedElementsAre(tree.at("/lib/ld.so"), tree.at("/lib/arch/ld.so"),
                                   tree.at("/lib64/ld.so"), tree.at("/lib32/ld.so"),
                                   tree.at("/usr/lib/ld.so"), tree.at("/usr/lib/arch/ld.so"),
                                   tree.at("/usr/lib64/ld.so"), tree.at("/usr/lib32/ld.so")));
}

TEST(LinkerNamesTest, ADirectoryWithSeveralNamesIsListedUnderOne) {
  const Tree tree;
  tree.directory("/usr/lib/arch");
  tree.file("/usr/lib/arch/ld.so");
  tree.link("usr/lib", "/lib");

  EXPECT_THAT(LinkerNames(tree.at("")).find(), UnorderedElementsAre(tree.at("/lib/arch/ld.so")));
}

TEST(LinkerNamesTest, NothingIsFoundWhereThereAreNoSuchDirectories) {
  const Tree tree;
  tree.file("/lib");

  EXPECT_THAT(LinkerNames(tree.at("")).find(), IsEmpty());
}

// Until what was changed just now can be told from what is changed next.
void let_settle() { ::sleep(3); }

TEST(LinkerNamesTest, ADirectoryIsListedAgainOnlyAfterItHasChanged) {
  const Tree tree;
  tree.directory("/lib/a");
  tree.directory("/lib/b");
  tree.file("/lib/a/ld.so");
  LinkerNames names(tree.at(""));
  let_settle();

  EXPECT_THAT(names.find(), UnorderedElementsAre(tree.at("/lib/a/ld.so")));
  const std::size_t first = names.listings();
  EXPECT_EQ(first, 3U);
  EXPECT_THAT(names.find(), UnorderedElementsAre(tree.at("/lib/a/ld.so")));
  EXPECT_EQ(names.listings(), first);

  tree.file("/lib/b/ld.so");
  EXPECT_THAT(names.find(), UnorderedElementsAre(tree.at("/lib/a/ld.so"), tree.at("/lib/b/ld.so")));
  EXPECT_EQ(names.listings(), first + 1);

  std::filesystem::remove_all(tree.at("/lib/a"));
  EXPECT_THAT(names.find(), UnorderedElementsAre(tree.at("/lib/b/ld.so")));
}

TEST(LinkerNamesTest, WhatWasListedWhileItMayHaveBeenChangingIsListedAgain) {
  const Tree tree;
  tree.directory("/lib");
  LinkerNames names(tree.at(""));

  for (int i = 0; i < 100; ++i) {
    const std::string name = "/lib/ld.so." + std::to_string(i);
    tree.file(name);
    EXPECT_THAT(names.find(), testing::Contains(tree.at(name)));
  }
}

}  // namespace
}  // namespace loom::guard
