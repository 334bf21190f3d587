#pragma once

#include <loom/bytes.h>
#include <loom/policy.h>
#include <loom/result.h>
#include <loom/value.h>

namespace loom {

inline constexpr std::size_t kMaxBasePolicyBytes = 1'048'576;  // descriptor 3 (docs/wire.md 10)

// Decodes and checks a policy document of version 2 or 3 (docs/policy.md). Stops at the first of
// the document's numbered rules that is broken. Messages start with "policy: ", name the offending
// thing, and are safe to show (escaped). Everything is kInvalidRequest.
[[nodiscard]] Result<Policy> decode_policy(ByteView document);
// The same for a document that is part of a larger message.
[[nodiscard]] Result<Policy> decode_policy(const Value& document);

// The canonical encoding of the value's own version: keys in ascending byte order, smallest forms,
// lists in the value's order.
[[nodiscard]] Bytes encode_policy(const Policy& policy);

}  // namespace loom
