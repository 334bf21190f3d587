#pragma once

#include <array>
#include <string>

namespace loom {

// A SHA-256 digest as 64 lower-case hex digits, for the systems whose own library has no such call.
[[nodiscard]] std::string digest_hex(const std::array<unsigned char, 32>& digest);

}  // namespace loom
