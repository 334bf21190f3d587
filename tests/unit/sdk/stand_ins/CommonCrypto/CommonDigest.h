// What digest_darwin.cc takes of macOS' header, made of libsodium, so that its loop runs here. A
// size is 8 bits instead of 32: then a short text takes several parts.
#pragma once

#include <sodium.h>

#include <cstdint>

#define CC_SHA256_DIGEST_LENGTH crypto_hash_sha256_BYTES

using CC_LONG = std::uint8_t;
using CC_SHA256_CTX = crypto_hash_sha256_state;

inline int CC_SHA256_Init(CC_SHA256_CTX* context) { return 1 + crypto_hash_sha256_init(context); }
inline int CC_SHA256_Update(CC_SHA256_CTX* context, const void* data, CC_LONG size) {
  return 1 + crypto_hash_sha256_update(context, static_cast<const unsigned char*>(data), size);
}
inline int CC_SHA256_Final(unsigned char* digest, CC_SHA256_CTX* context) {
  return 1 + crypto_hash_sha256_final(context, digest);
}
