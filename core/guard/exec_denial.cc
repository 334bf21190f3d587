#include "guard/exec_denial.h"

#include <loom/utf8.h>

namespace loom::guard {

std::string quoted(std::string_view text) { return '"' + escaped(text) + '"'; }

Denial exec_denial(const ExecRefusal& refusal) {
  Denial denial{.source = "guard",
                .op = "execute",
                .asked = std::string(refusal.asked),
                .reason = std::string(refusal.reason),
                .text = std::string(refusal.reason) + ": " + refusal.why};
  if (refusal.real != nullptr) denial.real = refusal.real->str();
  if (refusal.error != 0) denial.error = refusal.error;
  return denial;
}

}  // namespace loom::guard
