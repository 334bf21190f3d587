#pragma once

#include <string>
#include <string_view>

#include <loom/bytes.h>

namespace loom {

// SHA-256 as 64 lower-case hex digits (libsodium).
[[nodiscard]] std::string sha256_hex(ByteView bytes);

}  // namespace loom
