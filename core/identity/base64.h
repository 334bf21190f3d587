#pragma once

#include <loom/bytes.h>

#include <cstddef>
#include <optional>
#include <string_view>

namespace loom {

// The bytes of `text` in base64 (RFC 4648, section 4: '+' and '/', with padding), at most
// `max_bytes`. The whole text must be base64 in its one canonical form: nothing is ignored, padding
// is complete and the bits that no byte takes are zero. Empty otherwise.
//
// Two sources: base64.cc uses libsodium; base64_plain.cc stands where libsodium is not linked. A
// test compares them.
[[nodiscard]] std::optional<Bytes> decode_base64(std::string_view text, std::size_t max_bytes);

}  // namespace loom
