#include "host/windows/command_line.h"

#include <loom/utf8.h>

#include <algorithm>

#include "host/windows/native_path.h"

namespace loom::windows {
namespace {

constexpr std::string_view kNeedsQuotes = " \t\n\v\"";

// Backslashes mean themselves unless a quote follows: then each is doubled, and the quote gets one.
std::string quote_argument(std::string_view argument) {
  if (!argument.empty() && argument.find_first_of(kNeedsQuotes) == std::string_view::npos) {
    return std::string(argument);
  }
  std::string quoted = "\"";
  std::size_t backslashes = 0;
  for (const char each : argument) {
    if (each == '"') quoted.append(backslashes + 1, '\\');
    backslashes = each == '\\' ? backslashes + 1 : 0;
    quoted += each;
  }
  // In front of the closing quote.
  quoted.append(backslashes, '\\');
  return quoted + "\"";
}

std::string_view name_of(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

}  // namespace

Result<std::string> join_command_line(const std::vector<std::string>& argv) {
  if (argv.empty()) return fail(ErrorCode::kInvalidRequest, "command: no program named");
  if (argv.front().find('"') != std::string::npos) {
    return fail(ErrorCode::kInvalidRequest,
                "argv[0] \"" + escaped(argv.front(), 256) +
                    "\" holds a quote, and Windows has no way to pass that on");
  }
  std::string line = "\"" + argv.front() + "\"";
  for (std::size_t i = 1; i < argv.size(); ++i) line += " " + quote_argument(argv[i]);
  return line;
}

Result<std::string> make_environment_block(std::vector<std::string> variables) {
  const auto before = [](const std::string& a, const std::string& b) {
    return folded(name_of(a)) < folded(name_of(b));
  };
  std::stable_sort(variables.begin(), variables.end(), before);
  const auto same = [](const std::string& a, const std::string& b) {
    return folded(name_of(a)) == folded(name_of(b));
  };
  const auto twice = std::adjacent_find(variables.begin(), variables.end(), same);
  if (twice != variables.end()) {
    return fail(ErrorCode::kInvalidRequest, "environment: \"" + escaped(name_of(*twice), 256) +
                                                "\" and \"" + escaped(name_of(twice[1]), 256) +
                                                "\" are one name to Windows");
  }
  std::string block;
  for (const std::string& variable : variables) block.append(variable).push_back('\0');
  // A block without variables ends in two as well.
  if (variables.empty()) block.push_back('\0');
  block.push_back('\0');
  return block;
}

}  // namespace loom::windows
