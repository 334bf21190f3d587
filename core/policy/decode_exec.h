#pragma once

#include <loom/policy.h>
#include <loom/result.h>
#include <loom/value.h>

#include <cstddef>
#include <optional>
#include <vector>

#include "policy/check_policy_paths.h"

namespace loom {

inline constexpr std::size_t kMaxExecEntries = 256;  // of one list

// The value of `exec`, rows 34 to 50 of docs/policy.md 3, each over the whole value before the
// next; nothing for nil. `protected_paths` are the document's.
[[nodiscard]] Result<std::optional<ExecPolicy>> decode_exec(
    const Value& exec, const std::vector<PolicyPath>& protected_paths);

}  // namespace loom
