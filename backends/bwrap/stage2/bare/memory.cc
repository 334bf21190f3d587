#include "bare/memory.h"

#include <sys/mman.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>

#include "bare/die.h"

// What the compiler and the standard library's templates ask of a C library. Compiled without the
// compiler's own knowledge of these functions, or they would call themselves.

extern "C" {

void* memcpy(void* to, const void* from, std::size_t size) noexcept {
  void* const result = to;
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
  return result;
}

void* memmove(void* to, const void* from, std::size_t size) noexcept {
  auto* const target = static_cast<unsigned char*>(to);
  const auto* const source = static_cast<const unsigned char*>(from);
  if (target <= source || target >= source + size) return memcpy(to, from, size);
  for (std::size_t i = size; i > 0; --i) target[i - 1] = source[i - 1];
  return to;
}

void* memset(void* at, int value, std::size_t size) noexcept {
  void* const result = at;
  asm volatile("rep stosb" : "+D"(at), "+c"(size) : "a"(value) : "memory");
  return result;
}

int memcmp(const void* a, const void* b, std::size_t size) noexcept {
  const auto* const left = static_cast<const unsigned char*>(a);
  const auto* const right = static_cast<const unsigned char*>(b);
  for (std::size_t i = 0; i < size; ++i) {
    if (left[i] != right[i]) return left[i] < right[i] ? -1 : 1;
  }
  return 0;
}

// clang asks for this one where only equality counts.
int bcmp(const void* a, const void* b, std::size_t size) noexcept { return memcmp(a, b, size); }

void* memchr(const void* at, int value, std::size_t size) noexcept {
  const auto* const bytes = static_cast<const unsigned char*>(at);
  for (std::size_t i = 0; i < size; ++i) {
    if (bytes[i] == static_cast<unsigned char>(value)) return const_cast<unsigned char*>(bytes + i);
  }
  return nullptr;
}

std::size_t strlen(const char* text) noexcept {
  std::size_t size = 0;
  while (text[size] != '\0') ++size;
  return size;
}

}  // extern "C"

namespace {

// Nothing is given back: stage 2 lives for a moment, and its documents have ceilings.
constexpr std::size_t kAlignment = 16;
constexpr std::size_t kChunkBytes = 1U << 20U;
constexpr std::size_t kPageBytes = 4'096;
// A plain policy takes seven pages, and one with a few names more no eighth.
constexpr std::size_t kUsualBytes = 8 * kPageBytes;
// linux/mman.h (5.14); the C library's own header lacks it.
constexpr int kPopulateWrite = 23;
alignas(kPageBytes) std::array<std::byte, 64U << 10U> first_chunk;
std::byte* next = first_chunk.data();
std::size_t room = first_chunk.size();

void take_chunk(std::size_t bytes) noexcept {
  const std::size_t size = bytes > kChunkBytes ? bytes : kChunkBytes;
  void* const chunk =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (chunk == MAP_FAILED) loom::bwrap::die("out of memory");
  next = static_cast<std::byte*>(chunk);
  room = size;
}

}  // namespace

void loom::bwrap::provide_memory() noexcept {
  static_cast<void>(::madvise(first_chunk.data(), kUsualBytes, kPopulateWrite));
}

void* operator new(std::size_t size) {
  if (size > PTRDIFF_MAX) loom::bwrap::die("out of memory");
  const std::size_t bytes = (size + kAlignment - 1) & ~(kAlignment - 1);
  if (bytes > room) take_chunk(bytes);
  void* const result = next;
  next += bytes;
  room -= bytes;
  return result;
}

void operator delete(void*) noexcept {}
void operator delete(void*, std::size_t) noexcept {}
