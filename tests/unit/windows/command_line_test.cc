#include "host/windows/command_line.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace loom::windows {
namespace {

// The documented rules by which C programs for Windows take a command line apart, written from the
// reader's side: argv[0] ends at its closing quote; after it 2n backslashes before a quote are n
// and the quote is a mark, 2n+1 are n and the quote is a quote.
std::vector<std::string> taken_apart(std::string_view line) {
  std::vector<std::string> words;
  const std::size_t end = line.find('"', 1);
  words.emplace_back(line.substr(1, end - 1));
  line.remove_prefix(end + 1);
  bool quoted = false;
  bool in_word = false;
  std::string word;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool blank = line[i] == ' ' || line[i] == '\t';
    if (blank && !quoted) {
      if (in_word) words.push_back(std::exchange(word, {}));
      in_word = false;
      continue;
    }
    in_word = true;
    std::size_t backslashes = 0;
    while (i < line.size() && line[i] == '\\') ++backslashes, ++i;
    if (i < line.size() && line[i] == '"') {
      word.append(backslashes / 2, '\\');
      if (backslashes % 2 == 1) {
        word += '"';
      } else {
        quoted = !quoted;
      }
      continue;
    }
    word.append(backslashes, '\\');
    if (backslashes > 0) {
      --i;
    } else {
      word += line[i];
    }
  }
  if (in_word) words.push_back(word);
  return words;
}

TEST(CommandLineTest, EveryArgumentComesBack) {
  const std::vector<std::string> argv = {
      "C:\\a b\\x.exe", "",          " ",     "a\"b",     "\"", "\"\"",    "\\",  "\\\\",
      "C:\\dir\\",      "C:\\a b\\", "x\\\"", "x\\\\\"y", "\t", "tail\\ ", "^&|", "\n"};
  const auto line = join_command_line(argv);

  ASSERT_TRUE(line);
  EXPECT_EQ(taken_apart(*line), argv);
}

TEST(CommandLineTest, RandomArgumentsComeBack) {
  std::mt19937 random(20'231'130);
  constexpr std::string_view kMarks = "\\\"\\\" \tab\\";
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::string> argv = {"C:\\x.exe"};
    for (auto words = random() % 4; words > 0; --words) {
      std::string word;
      for (auto size = random() % 9; size > 0; --size) word += kMarks[random() % kMarks.size()];
      argv.push_back(word);
    }
    const auto line = join_command_line(argv);

    ASSERT_TRUE(line);
    ASSERT_EQ(taken_apart(*line), argv) << *line;
  }
}

TEST(CommandLineTest, PlainArgumentsStayReadable) {
  EXPECT_EQ(*join_command_line({"C:\\x.exe", "-o", "C:\\y\\", "two words"}),
            "\"C:\\x.exe\" -o C:\\y\\ \"two words\"");
}

TEST(CommandLineTest, AQuoteInTheProgramCannotBePassed) {
  const auto line = join_command_line({"a\"b", "x"});

  ASSERT_FALSE(line);
  EXPECT_NE(line.error().message.find("holds a quote"), std::string::npos);
  EXPECT_FALSE(join_command_line({}));
}

TEST(EnvironmentBlockTest, IsSortedWithoutCaseAndEndsTwice) {
  using namespace std::string_literals;
  EXPECT_EQ(*make_environment_block({"b=2", "A=1", "C=3=4"}), "A=1\0b=2\0C=3=4\0\0"s);
  EXPECT_EQ(*make_environment_block({}), "\0\0"s);
}

TEST(EnvironmentBlockTest, NamesThatAreOneToWindowsAreRefused) {
  const auto block = make_environment_block({"Path=1", "X=0", "PATH=2"});

  ASSERT_FALSE(block);
  EXPECT_NE(block.error().message.find("are one name to Windows"), std::string::npos);
  EXPECT_TRUE(make_environment_block({"Path=1", "PathX=2"}));
}

}  // namespace
}  // namespace loom::windows
