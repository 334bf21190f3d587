#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>

#include "host/process_table.h"

namespace loom::host {
namespace {

std::string stat_line(const std::string& name, std::int32_t parent = 7) {
  return "42 (" + name + ") S " + std::to_string(parent) +
         " 42 42 0 -1 4194560 143 0 0 0 0 0 0 0 20 0 1 0 9876 2740224 212 18446744073709551615 1 "
         "1\n";
}

// cases.md 192
TEST(ProcessStatTest, AnOrdinaryLineYieldsPidParentAndBirth) {
  const auto row = parse_process_stat(stat_line("sh"));

  ASSERT_TRUE(row.has_value());
  EXPECT_EQ(*row, (ProcessRow{.pid = 42, .parent = 7, .birth = 9'876}));
}

// cases.md 192
TEST(ProcessStatTest, ANameWithSpacesAndParenthesesDoesNotMoveTheParent) {
  for (const char* name :
       {"a b", "a) S 1 1", "((", "))", ") R 999 (", "", "tmux: server", "x\n) S 3"}) {
    SCOPED_TRACE(name);
    const auto row = parse_process_stat(stat_line(name));
    ASSERT_TRUE(row.has_value());
    EXPECT_EQ(row->parent, 7);
    EXPECT_EQ(row->birth, 9'876u);
  }
}

// cases.md 192
TEST(ProcessStatTest, ATruncatedOrNamelessLineIsNone) {
  for (const char* text :
       {"", "42", "42 (sh", "42 (sh)", "42 (sh) S", "42 (sh) S 7", "42 (sh) S 7 42 42 0 -1",
        "42 S 7 42", "(sh) S 7 1 1 0 -1 4194560 143 0 0 0 0 0 0 0 20 0 1 0 9876 1",
        "42 (sh) S seven 42 42 0 -1 4194560 143 0 0 0 0 0 0 0 20 0 1 0 9876 1",
        "42 (sh) S 7x 42 42 0 -1 4194560 143 0 0 0 0 0 0 0 20 0 1 0 9876 1",
        "42 (sh) S 99999999999 42 42 0 -1 4194560 143 0 0 0 0 0 0 0 20 0 1 0 9876 1"}) {
    EXPECT_FALSE(parse_process_stat(text).has_value()) << text;
  }
}

TEST(ProcessStatTest, TheStateFollowsTheLastParenthesis) {
  EXPECT_EQ(process_state(stat_line("a) R (b")), 'S');
  EXPECT_EQ(process_state("42 (sh"), '\0');
  EXPECT_EQ(process_state("42 (sh)"), '\0');
}

std::string end_line(const std::string& state, const std::string& threads,
                     const std::string& channel, const std::string& code) {
  return "42 (sh) " + state + " 7 42 42 0 -1 4227084 143 0 0 0 0 0 0 0 20 0 " + threads +
         " 0 9876 0 0 18446744073709551615 0 0 0 0 0 0 0 0 0 " + channel +
         " 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 " + code + "\n";
}

TEST(ProcessStatTest, TheLineOfAZombieTellsHowItEnded) {
  const auto exited = parse_end_line(end_line("Z", "1", "1", "768"));
  const auto hidden = parse_end_line(end_line("Z", "1", "0", "0"));

  ASSERT_TRUE(exited && hidden);
  EXPECT_EQ(exited->status, 3 << 8);
  EXPECT_TRUE(exited->is_known);
  EXPECT_EQ(hidden->status, 0);
  EXPECT_FALSE(hidden->is_known) << "whoever may not trace is shown a 0";
}

TEST(ProcessStatTest, TheLineOfWhoeverIsBeingReapedTellsNothing) {
  EXPECT_TRUE(parse_end_line(end_line("Z", "2", "1", "768"))) << "another thread is a zombie too";
  EXPECT_FALSE(parse_end_line(end_line("Z", "0", "1", "768"))) << "only of its main thread";
}

TEST(ProcessStatTest, NobodyHasEndedByALineThatDoesNotSaySo) {
  EXPECT_FALSE(parse_end_line(end_line("S", "1", "1", "0")));
  EXPECT_FALSE(parse_end_line(end_line("X", "1", "1", "0")));
  const std::string line = end_line("Z", "1", "1", "768");
  EXPECT_FALSE(parse_end_line(line.substr(0, line.rfind(' ')))) << "without its last word";
  EXPECT_FALSE(parse_end_line("42 (Z 1 1"));
  EXPECT_FALSE(parse_end_line(""));
}

std::uint32_t seed() {
  const char* const text = std::getenv("LOOM_SEED");
  return text != nullptr ? static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10))
                         : 20'261'129u;
}

TEST(ProcessStatTest, NoNameWhateverItsBytesChangesWhatIsRead) {
  SCOPED_TRACE("LOOM_SEED=" + std::to_string(seed()));
  std::mt19937 random(seed());
  const std::string alphabet = "()S 0123456789-\n\\\xff";
  for (int round = 0; round < 2'000; ++round) {
    std::string name(random() % 16, ' ');
    for (char& c : name) c = alphabet[random() % alphabet.size()];
    const auto parent = static_cast<std::int32_t>(random() % 4'194'304);

    const auto row = parse_process_stat(stat_line(name, parent));

    ASSERT_TRUE(row.has_value()) << name;
    ASSERT_EQ(row->parent, parent) << name;
  }
}

}  // namespace
}  // namespace loom::host
