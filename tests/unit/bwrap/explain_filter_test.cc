#include "backends/bwrap/explain_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <fstream>
#include <string>
#include <vector>

namespace loom::bwrap::test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr FilterVariant kCut{.cuts_network = true, .denies_unix = false};
constexpr FilterVariant kOpenNoUnix{.cuts_network = false, .denies_unix = true};
constexpr FilterVariant kSealed{.confines_programs = true, .seals_memory = true};

// Words of the rows as they stand in the columns, whichever line they are on.
std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

TEST(ExplainFilterTest, EveryRowInForceIsPrintedWithItsCallsAndReason) {
  for (const FilterVariant& variant : {kCut, kOpenNoUnix, kSealed}) {
    const std::vector<std::string> lines = explain_filter(variant, "x86_64");
    const std::string text = joined(lines);
    for (const DenyRow& row : deny_table()) {
      const std::string start = std::string(row.id) + " ";
      if (!is_in_force(row, variant)) {
        EXPECT_THAT(lines, Not(Contains(StartsWith(start))));
        continue;
      }
      EXPECT_THAT(lines, Contains(StartsWith(start)));
      EXPECT_THAT(text, HasSubstr(std::string(row.why)));
      for (const DeniedCall& call : row.calls) EXPECT_THAT(text, HasSubstr(std::string(call.name)));
    }
  }
}

TEST(ExplainFilterTest, ConditionsNameArgumentBitsAndMeaning) {
  EXPECT_THAT(
      explain_filter(kCut, "x86_64"),
      AllOf(Contains(HasSubstr("EPERM   unshare clone ")),
            Contains(HasSubstr(" arg0 has CLONE_NEWUSER (0x10000000) ")),
            Contains(HasSubstr(" arg1 is TIOCSTI (0x5412) ")),
            Contains(HasSubstr(" arg0 is not AF_UNIX (1) ")),
            Contains(HasSubstr("ENOSYS  clone3 ")), Contains(HasSubstr("kill    every call ")),
            Contains(HasSubstr(" a number of another architecture, or of x32 "))));
  EXPECT_THAT(explain_filter(kCut, "aarch64"), Not(Contains(HasSubstr("x32"))));
  EXPECT_THAT(explain_filter(kOpenNoUnix, "x86_64"),
              Contains(HasSubstr(" arg1 & 15 is SOCK_DGRAM (2), SOCK_RAW (3) ")));
  EXPECT_THAT(explain_filter(kSealed, "x86_64"),
              Contains(AllOf(HasSubstr(" EACCES  memfd_create "),
                             HasSubstr(" arg1 lacks MFD_NOEXEC_SEAL (8) "))));
}

TEST(ExplainFilterTest, ColumnsStandBelowTheirHeadings) {
  const std::vector<std::string> lines = explain_filter(kCut, "x86_64");
  ASSERT_GT(lines.size(), 2U);
  for (const char* heading : {"answer", "system calls", "refused with", "why"}) {
    const std::size_t column = lines.front().find(heading);
    ASSERT_NE(column, std::string::npos);
    for (const std::string& line : lines) {
      EXPECT_TRUE(line.size() <= column || line[column - 1] == ' ') << line;
      EXPECT_LE(line.size(), 180U) << line;
    }
  }
}

std::string in_force_words(const DenyRow& row) {
  if ((row.in_force & when::kAlways) != 0) return "always";
  std::string text;
  const auto add = [&](unsigned bit, const char* words) {
    if ((row.in_force & bit) != 0) text += (text.empty() ? "" : "; ") + std::string(words);
  };
  add(when::kNetworkCut, "network `off`, `proxy`");
  add(when::kNetworkOpen, "network `full`");
  add(when::kUnixDenied, "unix sockets denied");
  add(when::kProgramsConfined, "programs confined");
  add(when::kMemorySealed, "programs confined, `memfd` `noexec`");
  return text;
}

std::string documented(const DenyRow& row) {
  const RowText text = explain_row(row, "x86_64");
  return "| " + std::string(row.id) + " | " + text.calls + " | " + text.condition + " | " +
         text.answer + " | " + in_force_words(row) + " | " + std::string(row.why) + " |";
}

TEST(ExplainFilterTest, TheDocumentHasTheseRowsAndNoOthers) {
  std::ifstream document(LOOM_SOURCE_DIR "/docs/jail.md");
  std::vector<std::string> written;
  const auto is_row = [](const std::string& line) {
    return line.size() > 3 && (line.starts_with("| S") || line.starts_with("| N")) &&
           std::isdigit(static_cast<unsigned char>(line[3])) != 0;
  };
  for (std::string line; std::getline(document, line);) {
    if (is_row(line)) written.push_back(line);
  }
  std::vector<std::string> due;
  for (const DenyRow& row : deny_table()) due.push_back(documented(row));
  EXPECT_EQ(written, due);
}

}  // namespace
}  // namespace loom::bwrap::test
