#pragma once

#include <loom/policy.h>

#include <string_view>

#include "identity/identity_refusal.h"
#include "policy/decode_policy.h"

namespace loom {

// base64 of the largest document that is read elsewhere
inline constexpr std::size_t kMaxPolicyOperandChars = 4 * ((kMaxBasePolicyBytes + 2) / 3);
static_assert(kMaxPolicyOperandChars == 1'398'104);

// Reads POLICY_BASE64: standard alphabet, padded, without white space or stray bits, of one valid
// policy document (docs/policy.md) whose roots, protected paths, mounts and scratch have no ".."
// segment. Elsewhere such a segment is cleaned away by its text; here it is refused, because behind
// a link it means another directory.
[[nodiscard]] IdentityResult<Policy> decode_policy_operand(std::string_view base64);

// Whether one of the segments of a path as written is "..".
[[nodiscard]] bool has_parent_segment(std::string_view path) noexcept;

}  // namespace loom
