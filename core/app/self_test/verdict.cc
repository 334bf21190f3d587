#include "app/self_test/verdict.h"

#include <loom/utf8.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace loom::app {

ProbeVerdict enforced() { return {.verdict = Verdict::kEnforced, .reason = {}}; }

ProbeVerdict skipped(std::string reason) {
  return {.verdict = Verdict::kSkipped, .reason = std::move(reason)};
}

ProbeVerdict failed(std::string detail) {
  return {.verdict = Verdict::kFailed, .reason = std::move(detail)};
}

std::string quote_output(std::string_view output) {
  std::string line;
  for (const std::string_view each : lines_of(output)) {
    if (!line.empty()) line += " | ";
    line += each;
    if (line.size() > kMaxQuotedBytes) break;
  }
  return "\"" + printable(line, kMaxQuotedBytes) + "\"";
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

bool has_line(std::string_view text, std::string_view line) {
  const auto lines = lines_of(text);
  return std::find(lines.begin(), lines.end(), line) != lines.end();
}

std::uint64_t number_after(std::string_view text, std::string_view word) {
  for (std::string_view line : lines_of(text)) {
    if (!line.starts_with(word)) continue;
    line.remove_prefix(word.size());
    const std::size_t digits = line.find_first_not_of(' ');
    if (digits == 0 || digits == std::string_view::npos) continue;  // a longer word, or no number
    line.remove_prefix(digits);
    std::uint64_t number = 0;
    const auto parsed = std::from_chars(line.data(), line.data() + line.size(), number);
    if (parsed.ec == std::errc() && parsed.ptr == line.data() + line.size()) return number;
  }
  return 0;
}

}  // namespace loom::app
