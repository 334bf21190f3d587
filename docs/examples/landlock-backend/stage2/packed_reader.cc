#include "packed_reader.h"

#include <cstring>

namespace landlock::stage2 {
namespace {

constexpr unsigned char kNil = 0xc0;
constexpr unsigned char kFalse = 0xc2;
constexpr unsigned char kTrue = 0xc3;
constexpr unsigned char kBinary8 = 0xc4;
constexpr unsigned char kNumber8 = 0xcc;
constexpr unsigned char kText8 = 0xd9;
constexpr unsigned char kArray16 = 0xdc;
constexpr unsigned char kMap16 = 0xde;
constexpr unsigned char kFixedText = 0xa0;

}  // namespace

void PackedReader::refuse() {
  ok_ = false;
  at_ = end_;
}

// The first byte of a value. The text before it ends here.
unsigned char PackedReader::head() {
  const bool there = at_ < end_;
  const unsigned char byte = there ? static_cast<unsigned char>(*at_) : kNil;
  if (unterminated_ != nullptr) *unterminated_ = '\0';
  unterminated_ = nullptr;
  if (there) {
    ++at_;
  } else {
    refuse();
  }
  return byte;
}

std::uint64_t PackedReader::big_endian(std::size_t bytes) {
  if (static_cast<std::size_t>(end_ - at_) < bytes) {
    refuse();
    return 0;
  }
  std::uint64_t value = 0;
  for (; bytes > 0; --bytes) value = value << 8U | static_cast<unsigned char>(*at_++);
  return value;
}

std::uint64_t PackedReader::number() {
  const unsigned char byte = head();
  if (byte < 0x80) return byte;
  if (byte >= kNumber8 && byte < kNumber8 + 4)
    return big_endian(std::size_t{1} << (byte - kNumber8));
  refuse();
  return 0;
}

bool PackedReader::boolean() {
  const unsigned char byte = head();
  if (byte != kTrue && byte != kFalse) refuse();
  return byte == kTrue;
}

bool PackedReader::nil() {
  if (at_ >= end_ || static_cast<unsigned char>(*at_) != kNil) return false;
  head();
  return true;
}

Text PackedReader::binary() {
  const unsigned char byte = head();
  std::size_t size = 0;
  if (byte >= kFixedText && byte < kFixedText + 32) {
    size = byte - kFixedText;
  } else if (byte >= kText8 && byte < kText8 + 3) {
    size = big_endian(std::size_t{1} << (byte - kText8));
  } else if (byte >= kBinary8 && byte < kBinary8 + 3) {
    size = big_endian(std::size_t{1} << (byte - kBinary8));
  } else {
    refuse();
  }
  if (static_cast<std::size_t>(end_ - at_) < size) refuse();
  if (!ok_) return {.data = end_, .size = 0};
  const Text text{.data = at_, .size = size};
  at_ += size;
  unterminated_ = at_;
  return text;
}

Text PackedReader::text() {
  const Text text = binary();
  if (std::memchr(text.data, '\0', text.size) != nullptr) refuse();
  return text;
}

std::size_t PackedReader::count(unsigned char fixed, unsigned char fixed_end, unsigned char wide) {
  const unsigned char byte = head();
  std::size_t items = 0;
  if (byte >= fixed && byte < fixed_end) {
    items = byte - fixed;
  } else if (byte == wide || byte == wide + 1) {
    items = big_endian(byte == wide ? 2 : 4);
  } else {
    refuse();
  }
  // Each takes a byte at least, so nobody reserves much on the strength of a number alone.
  if (items > static_cast<std::size_t>(end_ - at_)) refuse();
  return ok_ ? items : 0;
}

std::size_t PackedReader::array() { return count(0x90, 0xa0, kArray16); }
std::size_t PackedReader::map() { return count(0x80, 0x90, kMap16); }

void PackedReader::key(const char* name) {
  const Text found = binary();
  const bool same =
      ok_ && found.size == std::strlen(name) && std::memcmp(found.data, name, found.size) == 0;
  if (!same) refuse();
}

bool PackedReader::finish() {
  if (unterminated_ != nullptr) *unterminated_ = '\0';
  unterminated_ = nullptr;
  return ok_ && at_ == end_;
}

}  // namespace landlock::stage2
