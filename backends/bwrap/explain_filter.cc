#include "explain_filter.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace loom::bwrap {
namespace {

constexpr std::size_t kColumns = 5;
constexpr std::array<std::size_t, kColumns> kWidths = {3, 6, 30, 44, 72};
constexpr std::string_view kGap = "  ";
constexpr std::array<std::string_view, kColumns> kHeading = {"row", "answer", "system calls",
                                                             "refused with", "why"};

std::string_view answer_of(DenyAction action) noexcept {
  switch (action) {
    case DenyAction::kPermission:
      return "EPERM";
    case DenyAction::kAccess:
      return "EACCES";
    case DenyAction::kNoCall:
      return "ENOSYS";
    case DenyAction::kKill:
      break;
  }
  return "kill";
}

std::string number_text(std::uint32_t bits) {
  static constexpr std::uint32_t kLargestDecimal = 0xff;
  std::array<char, 16> digits{};
  const int base = bits > kLargestDecimal ? 16 : 10;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), bits, base).ptr;
  return (base == 16 ? "0x" : "") + std::string(digits.data(), end);
}

std::string condition_text(const ArgumentTest& test) {
  static constexpr std::uint32_t kAllBits = 0xffffffff;
  std::string text = "arg" + std::to_string(test.argument);
  const bool one_flag = test.values.size() == 1 && test.values.front().bits == test.mask;
  if (test.mask != kAllBits && !one_flag) text += " & " + number_text(test.mask);
  if (one_flag) text += test.inverted ? " lacks" : " has";
  if (!one_flag) text += test.inverted ? " is not" : " is";
  std::string_view before = " ";
  for (const ArgumentValue& value : test.values) {
    text.append(before).append(value.name).append(" (").append(number_text(value.bits)).append(")");
    before = ", ";
  }
  return text;
}

std::string condition_text(const DenyRow& row, std::string_view machine) {
  if (row.test) return condition_text(*row.test);
  if (!row.calls.empty()) return "any arguments";
  return machine == "x86_64" ? "a number of another architecture, or of x32"
                             : "a number of another architecture";
}

std::string calls_text(const DenyRow& row) {
  if (row.calls.empty()) return "every call";
  std::string text;
  for (const DeniedCall& call : row.calls) {
    if (!text.empty()) text += ' ';
    text.append(call.name);
  }
  return text;
}

// As many of the words as fit, taken off the front; at least one.
std::string take_line(std::string_view& words, std::size_t width) {
  std::size_t end = words.size();
  if (end > width) {
    end = words.rfind(' ', width);
    if (end == std::string_view::npos) end = std::min(words.find(' '), words.size());
  }
  std::string line(words.substr(0, end));
  words.remove_prefix(std::min(end + 1, words.size()));
  return line;
}

void lay_out(std::array<std::string_view, kColumns> cells, std::vector<std::string>& lines) {
  do {
    std::string line;
    for (std::size_t i = 0; i < kColumns; ++i) {
      std::string cell = take_line(cells[i], kWidths[i]);
      cell.resize(std::max(cell.size(), kWidths[i]), ' ');
      line.append(i == 0 ? "" : kGap).append(cell);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
  } while (
      std::any_of(cells.begin(), cells.end(), [](std::string_view cell) { return !cell.empty(); }));
}

}  // namespace

RowText explain_row(const DenyRow& row, std::string_view machine) {
  return {.answer = std::string(answer_of(row.action)),
          .calls = calls_text(row),
          .condition = condition_text(row, machine)};
}

std::vector<std::string> explain_filter(const FilterVariant& variant, std::string_view machine) {
  std::vector<std::string> lines;
  lay_out(kHeading, lines);
  for (const DenyRow& row : deny_table()) {
    if (!is_in_force(row, variant)) continue;
    const RowText text = explain_row(row, machine);
    lay_out({row.id, text.answer, text.calls, text.condition, row.why}, lines);
  }
  return lines;
}

}  // namespace loom::bwrap
