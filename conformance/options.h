#pragma once

#include <optional>
#include <string>
#include <vector>

#include "check.h"

namespace loom::conformance {

// Exit statuses of this program.
inline constexpr int kConforming = 0;
inline constexpr int kNotConforming = 1;
inline constexpr int kUsage = 2;
inline constexpr int kCouldNotJudge = 3;

struct Output {
  enum class Form : unsigned char { kText, kJunit, kJson };
  Form form = Form::kText;
  std::string file{};  // kText has none
};

struct Options {
  std::string backend{};  // a name, or an absolute path
  std::string helper{};   // a path; exactly one of the two is given
  std::vector<std::string> helper_arguments{};
  bool list = false;                // print the checks and run none
  std::vector<std::string> only{};  // ids, or themes ("manners"); empty: all
  std::vector<Output> outputs{};
  std::string summary{};  // file for the page in Markdown; empty: none
};

[[nodiscard]] inline SubjectKind kind_of(const Options& options) {
  return options.helper.empty() ? SubjectKind::kBackend : SubjectKind::kHelper;
}

struct ParsedOptions {
  std::optional<int> exit_status{};  // set: everything was said, end with this
  Options options{};
};
[[nodiscard]] ParsedOptions parse_options(int argc, const char* const* argv);

}  // namespace loom::conformance
