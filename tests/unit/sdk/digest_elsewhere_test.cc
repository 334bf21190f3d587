// The digests of systems without libsodium, beside libsodium's.
#include <gtest/gtest.h>
#include <loom/digest.h>
#include <sodium.h>

#include <array>
#include <string>

#include "core/sdk/digest_hex.h"

namespace loom {

std::string sha256_hex_of_darwin(ByteView bytes);  // digest_darwin.cc, by another name

namespace {

TEST(DigestElsewhereTest, EveryByteBecomesTheSameTwoDigits) {
  std::array<unsigned char, 32> digest{};
  for (unsigned first = 0; first < 256; first += 32) {
    for (unsigned i = 0; i < 32; ++i) digest[i] = static_cast<unsigned char>(first + i);
    std::array<char, 65> expected{};
    sodium_bin2hex(expected.data(), expected.size(), digest.data(), digest.size());
    EXPECT_EQ(digest_hex(digest), expected.data());
  }
}

TEST(DigestElsewhereTest, APieceAtATimeGivesTheSameDigest) {
  std::string text;
  for (const std::size_t size : {0u, 1u, 63u, 64u, 254u, 255u, 256u, 510u, 511u, 1000u}) {
    while (text.size() < size) text.push_back(static_cast<char>('a' + text.size() % 23));
    EXPECT_EQ(sha256_hex_of_darwin(as_bytes(text)), sha256_hex(as_bytes(text))) << size;
  }
}

}  // namespace
}  // namespace loom
