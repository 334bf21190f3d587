#include <loom/digest.h>
#include <sodium.h>

#include <array>

namespace loom {

std::string sha256_hex(ByteView bytes) {
  std::array<unsigned char, crypto_hash_sha256_BYTES> digest{};
  // Plain hashing needs no sodium_init: it only picks faster code for other primitives.
  crypto_hash_sha256(digest.data(), reinterpret_cast<const unsigned char*>(bytes.data()),
                     bytes.size());
  std::array<char, 2 * crypto_hash_sha256_BYTES + 1> hex{};
  sodium_bin2hex(hex.data(), hex.size(), digest.data(), digest.size());
  return {hex.data(), hex.size() - 1};
}

}  // namespace loom
