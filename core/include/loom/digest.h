#pragma once

#include <loom/bytes.h>

#include <string>
#include <string_view>

namespace loom {

// SHA-256 as 64 lower-case hex digits (libsodium; on macOS and Windows the system).
[[nodiscard]] std::string sha256_hex(ByteView bytes);

}  // namespace loom
