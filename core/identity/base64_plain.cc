#include <algorithm>
#include <cstdint>

#include "identity/base64.h"

namespace loom {
namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// The 24 bits of four characters, of which the last `padding` ones are '='; none if another
// character is no digit or a bit is set that belongs to no byte.
std::optional<std::uint32_t> decode_group(std::string_view group, std::size_t padding) {
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    const std::size_t digit = i < 4 - padding ? kDigits.find(group[i]) : 0;
    if (digit == std::string_view::npos) return std::nullopt;
    bits = bits << 6U | static_cast<std::uint32_t>(digit);
  }
  const std::uint32_t unused = (1U << (8U * padding)) - 1U;
  if ((bits & unused) != 0) return std::nullopt;
  return bits;
}

std::size_t padding_of(std::string_view text) {
  if (text.ends_with("==")) return 2;
  return text.ends_with('=') ? 1 : 0;
}

}  // namespace

std::optional<Bytes> decode_base64(std::string_view text, std::size_t max_bytes) {
  if (text.size() % 4 != 0) return std::nullopt;
  const std::size_t padding = padding_of(text);
  if (text.size() / 4 * 3 - padding > max_bytes) return std::nullopt;
  Bytes bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (std::size_t at = 0; at < text.size(); at += 4) {
    const std::size_t missing = at + 4 == text.size() ? padding : 0;
    const auto bits = decode_group(text.substr(at, 4), missing);
    if (!bits) return std::nullopt;
    for (std::size_t i = 0; i < 3 - missing; ++i) {
      bytes.push_back(static_cast<std::byte>(*bits >> (16U - 8U * i) & 0xffU));
    }
  }
  return bytes;
}

}  // namespace loom
