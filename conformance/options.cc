#include "options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string_view>

namespace loom::conformance {
namespace {

bool parse_output(const std::string& word, std::vector<Output>& outputs) {
  if (word == "text") {
    outputs.push_back({.form = Output::Form::kText, .file = {}});
    return true;
  }
  const std::size_t colon = word.find(':');
  if (colon == std::string::npos || colon + 1 == word.size()) return false;
  const std::string form = word.substr(0, colon);
  if (form != "junit" && form != "json") return false;
  outputs.push_back({.form = form == "json" ? Output::Form::kJson : Output::Form::kJunit,
                     .file = word.substr(colon + 1)});
  return true;
}

bool is_known(const std::string& wanted, SubjectKind kind) {
  const auto& checks = checks_of(kind);
  return std::any_of(checks.begin(), checks.end(), [&wanted](const Check& check) {
    return check.id == wanted || check.id.starts_with(wanted + ".");
  });
}

ParsedOptions usage_error(const std::string& text) {
  std::fprintf(stderr, "loom-conformance: %s\n", text.c_str());
  return {.exit_status = kUsage, .options = {}};
}

ParsedOptions check_words(Options options, const std::vector<std::string>& outputs) {
  for (const std::string& word : outputs) {
    if (!parse_output(word, options.outputs)) {
      return usage_error("--output " + word + " is none of text, junit:FILE and json:FILE");
    }
  }
  if (options.outputs.empty()) options.outputs.push_back({});
  for (const std::string& wanted : options.only) {
    if (!is_known(wanted, kind_of(options)))
      return usage_error("--only " + wanted + ": there is no such check");
  }
  const bool either = !options.backend.empty() || !options.helper.empty();
  const bool both = !options.backend.empty() && !options.helper.empty();
  if (both || (!either && !options.list)) {
    return usage_error(
        "exactly one of --backend NAME, --backend /PATH.so and --helper PATH says what to judge");
  }
  if (options.helper.empty() && !options.helper_arguments.empty()) {
    return usage_error("--helper-arg is a word for a --helper");
  }
  return {.exit_status = std::nullopt, .options = std::move(options)};
}

}  // namespace

ParsedOptions parse_options(int argc, const char* const* argv) {
  Options options;
  std::vector<std::string> outputs;
  CLI::App app(
      "Judges a backend of loom-exec by the contract that every backend keeps, or a helper by the "
      "protocol that every broker relies on.\n"
      "Exit status: 0 conforming, 1 not conforming, 2 usage, 3 could not judge.",
      "loom-conformance");
  app.add_option("--backend", options.backend, "The backend: a name, or the path of a library");
  app.add_option("--helper", options.helper, "The helper: a program that speaks the protocol");
  app.add_option("--helper-arg", options.helper_arguments,
                 "A word for the helper's command line; may be repeated")
      ->allow_extra_args(false);
  app.add_flag("--list", options.list, "Print the checks and run none");
  app.add_option("--only", options.only, "Only these checks or themes; may be repeated")
      ->delimiter(',');
  app.add_option("--output", outputs, "text, junit:FILE or json:FILE; may be repeated");
  app.add_option("--summary", options.summary, "Write one page in Markdown to this file");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return {.exit_status = app.exit(error) == 0 ? 0 : kUsage, .options = {}};
  }
  return check_words(std::move(options), outputs);
}

}  // namespace loom::conformance
