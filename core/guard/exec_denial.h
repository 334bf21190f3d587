#pragma once

#include <loom/absolute_path.h>

#include <string>
#include <string_view>

#include "report/denial.h"

namespace loom::guard {

// "\"/x/t\"": escaped and quoted, for sentences.
[[nodiscard]] std::string quoted(std::string_view text);

// A refusal of admission; whoever knows more fills it in.
struct ExecRefusal {
  std::string_view reason;             // "not_found", …
  std::string_view asked;              // argv[0]
  const AbsolutePath* real = nullptr;  // of the program, where it was found
  std::string why{};                   // the sentence after the reason
  int error = 0;                       // errno; 0: none
};
[[nodiscard]] Denial exec_denial(const ExecRefusal& refusal);

}  // namespace loom::guard
