#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "deny_table.h"

namespace loom::bwrap {

// One row in words. The conditions of different architectures differ; `machine` as uname -m.
struct RowText {
  std::string answer;     // "EPERM", "ENOSYS" or "kill"
  std::string calls;      // names, one space between them
  std::string condition;  // what they are refused with
};
[[nodiscard]] RowText explain_row(const DenyRow& row, std::string_view machine);

// The rows of the deny table that are in force for `variant`, in words: a heading and aligned lines
// of id, answer, system calls, condition and reason. A long list goes on in the next line.
[[nodiscard]] std::vector<std::string> explain_filter(const FilterVariant& variant,
                                                      std::string_view machine);

}  // namespace loom::bwrap
