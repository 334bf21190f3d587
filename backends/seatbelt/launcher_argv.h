#pragma once

#include <string>
#include <vector>

#include "run_memo.h"

namespace loom::seatbelt {

// The child's descriptor of a profile that is too long for an argument.
inline constexpr int kProfileNumber = 6;

[[nodiscard]] bool is_long(const RunMemo& memo) noexcept;

// What the launcher gets: options, definitions, stage 2.
[[nodiscard]] std::vector<std::string> launcher_argv(const RunMemo& memo);

}  // namespace loom::seatbelt
