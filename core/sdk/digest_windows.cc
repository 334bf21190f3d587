// SHA-256 by Windows' own library, bcrypt.dll.
#include <loom/check.h>
#include <loom/digest.h>
#include <windows.h>
// After the header that it needs.
#include <bcrypt.h>

#include <algorithm>
#include <array>
#include <limits>

#include "digest_hex.h"

namespace loom {

std::string sha256_hex(ByteView bytes) {
  // The algorithm is part of every Windows, so that a failure is a broken system.
  BCRYPT_ALG_HANDLE algorithm = nullptr;
  LOOM_CHECK(BCryptOpenAlgorithmProvider(&algorithm, BCRYPT_SHA256_ALGORITHM, nullptr, 0) == 0);
  BCRYPT_HASH_HANDLE hash = nullptr;
  LOOM_CHECK(BCryptCreateHash(algorithm, &hash, nullptr, 0, nullptr, 0, 0) == 0);
  while (!bytes.empty()) {
    // A size is 32 bits there, and the bytes are read although they are not declared const.
    const std::size_t part = std::min<std::size_t>(bytes.size(), std::numeric_limits<ULONG>::max());
    auto* const data = reinterpret_cast<UCHAR*>(const_cast<std::byte*>(bytes.data()));
    LOOM_CHECK(BCryptHashData(hash, data, static_cast<ULONG>(part), 0) == 0);
    bytes = bytes.subspan(part);
  }
  std::array<unsigned char, 32> digest{};
  LOOM_CHECK(BCryptFinishHash(hash, digest.data(), ULONG{digest.size()}, 0) == 0);
  BCryptDestroyHash(hash);
  BCryptCloseAlgorithmProvider(algorithm, 0);
  return digest_hex(digest);
}

}  // namespace loom
