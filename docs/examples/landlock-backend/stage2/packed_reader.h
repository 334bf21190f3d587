#pragma once

#include <cstddef>
#include <cstdint>

namespace landlock::stage2 {

struct Text {
  char* data = nullptr;  // ends in a NUL once the next value was read, or finish() called
  std::size_t size = 0;
};

// Reads msgpack in place, in the order in which it was written, and allocates nothing: a text is
// terminated by overwriting the head of what follows it. What was read wrongly reads as zero or
// empty, and ok() says so: ask it before anything that was read is used.
class PackedReader {
 public:
  // Borrows `bytes`, `size` of them and one more that belongs to nobody.
  PackedReader(char* bytes, std::size_t size) : at_(bytes), end_(bytes + size) {}

  std::uint64_t number();
  bool boolean();
  bool nil();  // takes a nil if that is what comes next
  // A text or a binary. text() refuses one that holds a NUL.
  Text binary();
  Text text();
  std::size_t array();
  std::size_t map();
  // Takes a text and demands that it be this one.
  void key(const char* name);

  // Whether all was sound so far.
  [[nodiscard]] bool ok() const { return ok_; }
  // The same, and nothing is left over. Terminates the last text.
  bool finish();

 private:
  unsigned char head();
  std::uint64_t big_endian(std::size_t bytes);
  std::size_t count(unsigned char fixed, unsigned char fixed_end, unsigned char wide);
  void refuse();

  char* at_;
  char* end_;
  char* unterminated_ = nullptr;
  bool ok_ = true;
};

}  // namespace landlock::stage2
