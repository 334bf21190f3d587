#pragma once

#include <loom/bytes.h>
#include <loom/result.h>

#include <string>
#include <utility>
#include <vector>

#include "instance.h"

namespace loom::conformance {

struct Query {
  std::string what{};
  Verb verb = Verb::kPlan;
  Bytes input{};
};

// The same questions put to another process of this program, with its own address space and
// another environment, locale and working directory.
[[nodiscard]] Result<std::vector<Answer>> ask_another_process(const Subject& subject,
                                                              const std::vector<Query>& queries);

// The other process: reads the queries from `queries` and writes the answers to `answers`, both
// descriptors. The exit status.
[[nodiscard]] int answer_queries(const Subject& subject, int queries, int answers);

// The option of the command line that makes this program the other process.
inline constexpr const char* kAnswerOption = "--answer-queries";

}  // namespace loom::conformance
