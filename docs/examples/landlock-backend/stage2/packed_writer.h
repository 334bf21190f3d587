#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace landlock::stage2 {

// Writes msgpack, smallest encodings, into memory of its own. What does not fit any more is a loss
// that fits() tells of.
template <std::size_t kCapacity>
class PackedWriter {
 public:
  void number(std::uint32_t value) {
    if (value < 0x80) return byte(value);
    if (value <= 0xff) return wide(0xcc, value, 1);
    value <= 0xffff ? wide(0xcd, value, 2) : wide(0xce, value, 4);
  }
  void text(std::string_view words) {
    const auto size = static_cast<std::uint32_t>(words.size());
    if (size < 32) {
      byte(0xa0 | size);
    } else {
      size <= 0xff ? wide(0xd9, size, 1) : wide(0xda, size, 2);
    }
    for (const char c : words) byte(static_cast<unsigned char>(c));
  }
  void map(std::uint32_t count) { byte(0x80 | count); }  // at most 15
  void array(std::uint32_t count) { count < 16 ? byte(0x90 | count) : wide(0xdc, count, 2); }

  [[nodiscard]] const char* data() const { return bytes_.data(); }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool fits() const { return fits_; }

 private:
  void byte(std::uint32_t value) {
    if (size_ < kCapacity) {
      bytes_[size_++] = static_cast<char>(value);
    } else {
      fits_ = false;
    }
  }
  void wide(std::uint32_t head, std::uint32_t value, unsigned bytes) {
    byte(head);
    while (bytes-- > 0) byte(value >> (8 * bytes) & 0xff);
  }

  std::array<char, kCapacity> bytes_{};
  std::size_t size_ = 0;
  bool fits_ = true;
};

}  // namespace landlock::stage2
