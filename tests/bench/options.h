#pragma once

#include <optional>
#include <string>
#include <vector>

namespace loom::bench {

struct Options {
  std::string helper{};  // absolute
  int rounds = 100;
  std::string json{};                // a file; empty: none
  std::vector<std::string> only{};   // these parts; none means all
  std::vector<std::string> lists{};  // part sizes: these lists; none means all
};

// What somebody may ask for by name.
struct Choices {
  std::vector<std::string> parts{};
  std::vector<std::string> lists{};
};

// Nothing when the program is to end now, with `status`: help was asked for, or the line is wrong.
[[nodiscard]] std::optional<Options> parse_options(int argc, const char* const* argv,
                                                   const Choices& choices, int& status);

}  // namespace loom::bench
