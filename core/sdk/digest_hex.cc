#include "digest_hex.h"

#include <string_view>

namespace loom {

std::string digest_hex(const std::array<unsigned char, 32>& digest) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  hex.reserve(2 * digest.size());
  for (const unsigned char byte : digest) {
    hex += kDigits[byte >> 4U];
    hex += kDigits[byte & 0xfU];
  }
  return hex;
}

}  // namespace loom
