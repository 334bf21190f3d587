// SHA-256 by CommonCrypto, a part of macOS' system library.
#include <CommonCrypto/CommonDigest.h>
#include <loom/digest.h>

#include <algorithm>
#include <array>
#include <limits>

#include "digest_hex.h"

namespace loom {

std::string sha256_hex(ByteView bytes) {
  // None of the three calls can fail: all return 1.
  CC_SHA256_CTX context;
  CC_SHA256_Init(&context);
  while (!bytes.empty()) {
    // A size is 32 bits there.
    const std::size_t part =
        std::min<std::size_t>(bytes.size(), std::numeric_limits<CC_LONG>::max());
    CC_SHA256_Update(&context, bytes.data(), static_cast<CC_LONG>(part));
    bytes = bytes.subspan(part);
  }
  std::array<unsigned char, CC_SHA256_DIGEST_LENGTH> digest{};
  CC_SHA256_Final(digest.data(), &context);
  return digest_hex(digest);
}

}  // namespace loom
