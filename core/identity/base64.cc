#include "identity/base64.h"

#include <sodium.h>

#include <algorithm>

namespace loom {
namespace {

// libsodium 1.0.18 takes every byte from 0x80 on for '/': its comparisons are made for a character
// that is not negative.
bool is_ascii(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(),
                     [](char each) { return static_cast<unsigned char>(each) < 0x80; });
}

}  // namespace

std::optional<Bytes> decode_base64(std::string_view text, std::size_t max_bytes) {
  if (!is_ascii(text)) return std::nullopt;
  Bytes bytes(max_bytes + 1);  // never null, which the library's header forbids
  std::size_t size = 0;
  // Without a list of characters to ignore and without a place to report the end, the whole text
  // must be base64. Needs no sodium_init: nothing here is chosen at run time.
  const int status =
      sodium_base642bin(reinterpret_cast<unsigned char*>(bytes.data()), bytes.size(), text.data(),
                        text.size(), nullptr, &size, nullptr, sodium_base64_VARIANT_ORIGINAL);
  if (status != 0 || size > max_bytes) return std::nullopt;
  bytes.resize(size);
  return bytes;
}

}  // namespace loom
