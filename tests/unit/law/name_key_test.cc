#include "law/name_key.h"

#include <gtest/gtest.h>

#include <string>

#include "law/folded_path.h"
#include "law/name_tables.h"

namespace loom::law {
namespace {

// The specification counts Unicode 14; a later version only adds.
TEST(NameTablesTest, NothingOfUnicode14IsMissing) {
  EXPECT_GE(kNameTables.uppercase.size(), 1'525U);
  EXPECT_GE(kNameTables.casefold.size(), 1'530U);
  EXPECT_GE(kNameTables.decomposition.size(), 2'061U);
  EXPECT_GE(kNameTables.combining.size(), 912U);
  EXPECT_GE(kNameTables.version, "14.0.0");
}

TEST(NameKeyTest, AsciiIsLowered) {
  EXPECT_EQ(name_key("Makefile.AM-[@`{Z_9"), "makefile.am-[@`{z_9");
  EXPECT_EQ(name_key(""), "");
}

TEST(NameKeyTest, TheFewLettersWhoseKeyIsAsciiLandOnTheLowerCaseText) {
  EXPECT_EQ(name_key("\u0131d"), "id");  // dotless i
  EXPECT_EQ(name_key("\u017F"), "s");    // long s
  EXPECT_EQ(name_key("\u212A"), "k");    // Kelvin sign
  EXPECT_EQ(name_key("pro\uFB01le"), "profile");
  EXPECT_EQ(name_key("\uFB04"), "ffl");
  EXPECT_EQ(name_key("\uFB05"), "st");  // long s and t
  EXPECT_EQ(name_key("stra\u00DFe"), "strasse");
  EXPECT_EQ(name_key("STRA\u1E9EE"), "strasse");
}

TEST(NameKeyTest, SpellingsOfOneNameShareAKey) {
  EXPECT_EQ(name_key("caf\u00E9"), name_key("CAFE\u0301"));
  EXPECT_EQ(name_key("\u00C5"), name_key("\u212B"));              // angstrom
  EXPECT_EQ(name_key("\u1FB3\u0301"), name_key("\u1FB4"));        // U+0345 becomes a letter
  EXPECT_EQ(name_key("\u03C3"), name_key("\u03C2"));              // sigma, final sigma
  EXPECT_EQ(name_key("\u1FB4"), name_key("\u03B1\u0301\u0345"));  // alpha, tonos, ypogegrammeni
  EXPECT_EQ(name_key("\u0149"), name_key("\u02BCN"));
  EXPECT_EQ(name_key("\U00010400"), name_key("\U00010428"));  // Deseret, four bytes
}

TEST(NameKeyTest, WhatIsNoSpellingOfTheSameNameStaysApart) {
  EXPECT_NE(name_key("\uFF41"), name_key("a"));  // full width
  EXPECT_EQ(name_key("\uFF21"), name_key("\uFF41"));
  EXPECT_NE(name_key("\u0130"), name_key("i"));  // I with a dot, and no locale that joins them
  EXPECT_EQ(name_key("\u0130"), name_key("i\u0307"));
  EXPECT_NE(name_key("caf\u00E9"), name_key("cafe"));
  EXPECT_NE(name_key("\u2460"), name_key("1"));
}

TEST(NameKeyTest, HangulIsTakenApart) {
  EXPECT_EQ(name_key("\uAC00"), "\u1100\u1161");
  EXPECT_EQ(name_key("\uAC01"), "\u1100\u1161\u11A8");
  EXPECT_EQ(name_key("\uD7A3"), "\u1112\u1175\u11C2");
  EXPECT_EQ(name_key("\uD55C\uAE00"), name_key("\u1112\u1161\u11AB\u1100\u1173\u11AF"));
}

TEST(NameKeyTest, MarksOfDifferentClassesHaveOneOrderAndThoseOfOneClassKeepTheirs) {
  EXPECT_EQ(name_key("a\u0301\u0323"), name_key("a\u0323\u0301"));  // above, below
  EXPECT_NE(name_key("a\u0301\u0308"), name_key("a\u0308\u0301"));  // both above
  EXPECT_EQ(name_key("\u1E69"), name_key("s\u0307\u0323"));
}

// guard 9.1: 18
TEST(NameKeyTest, BytesThatAreNotUtf8AreTheirOwnKey) {
  for (const std::string name :
       {"\xFF", "Caf\xE9", "\xC3", "A\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x84"}) {
    SCOPED_TRACE(::testing::PrintToString(name));
    EXPECT_EQ(name_key(name), name);
  }
}

TEST(NameKeyTest, AKeyIsItsOwnKey) {
  for (const std::string name : {"Makefile", "\u0130", "\u1FB4", "\u00DF", "\uAC01", "\u0149"}) {
    EXPECT_EQ(name_key(name_key(name)), name_key(name));
  }
}

TEST(FoldedPathTest, FoldingIsByComponent) {
  const auto folded = [](const char* text) {
    return FoldedPath(AbsolutePath::parse(text).value());
  };

  EXPECT_TRUE(folded("/X/Bin/t").is_within(folded("/x/bin")));
  EXPECT_TRUE(folded("/x").is_within(folded("/x")));
  EXPECT_TRUE(folded("/x").is_within(folded("/")));
  EXPECT_FALSE(folded("/").is_within(folded("/x")));
  EXPECT_FALSE(folded("/x/binx").is_within(folded("/x/bin")));
  EXPECT_FALSE(folded("/x/bin").is_within(folded("/x/bin/t")));
  EXPECT_EQ(folded("/x/SH").name(), "sh");
  EXPECT_EQ(folded("/").name(), "");
  // One component that is no UTF-8 leaves the others foldable.
  EXPECT_EQ(folded("/A/\xFF/B"), folded("/a/\xFF/b"));
  EXPECT_FALSE(folded("/A/X\xFF") == folded("/a/x\xFF"));
}

}  // namespace
}  // namespace loom::law
