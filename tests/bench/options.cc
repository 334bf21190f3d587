#include "tests/bench/options.h"

#include <CLI/CLI.hpp>
#include <filesystem>

namespace loom::bench {
namespace {

void declare(CLI::App& parser, const Choices& choices, Options& options) {
  constexpr int kFewestRounds = 10;
  constexpr int kMostRounds = 100'000;
  parser.add_option("HELPER", options.helper, "the helper to measure")
      ->required()
      ->check(CLI::ExistingFile);
  parser.add_option("--rounds", options.rounds, "how often each side is measured")
      ->check(CLI::Range(kFewestRounds, kMostRounds))
      ->capture_default_str();
  parser.add_option("--json", options.json, "write the figures to this file too");
  parser.add_option("--only", options.only, "measure this part; may be repeated")
      ->check(CLI::IsMember(choices.parts))
      ->expected(1)
      ->take_all();
  parser
      .add_option("--list", options.lists, "part sizes: this list of the policy; may be repeated")
      ->check(CLI::IsMember(choices.lists))
      ->expected(1)
      ->take_all();
}

}  // namespace

std::optional<Options> parse_options(int argc, const char* const* argv, const Choices& choices,
                                     int& status) {
  Options options;
  CLI::App parser("What a jail costs, beside the bare tools, measured in the same run.",
                  "loom-bench");
  declare(parser, choices, options);
  try {
    parser.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    status = parser.exit(problem);
    return std::nullopt;
  }
  options.helper = std::filesystem::canonical(options.helper);
  return options;
}

}  // namespace loom::bench
