#pragma once

#include <loom/bytes.h>
#include <loom/result.h>

#include <cstdint>
#include <optional>

namespace loom {

inline constexpr std::size_t kFramePrefixBytes = 4;
inline constexpr std::size_t kMaxFrameBytes = 16'777'216;  // payload; exactly that many is legal

// Cuts a byte stream into frame payloads. Chunking never changes the frames.
//
// Memory: in proportion to what was fed and not yet taken; a length is checked before anything is
// reserved, and nothing is reserved on its strength. What a large frame needed is given back when
// the reader runs empty. After an error the reader stays failed and takes nothing more.
class FrameReader {
 public:
  void feed(ByteView chunk);

  // The next whole payload, or nothing yet. kInvalidRequest for a length of 0 or above the ceiling;
  // the payload behind such a length is never read.
  [[nodiscard]] Result<std::optional<Bytes>> next();

  // Whether the stream may end here: no part of a prefix or payload is waiting.
  [[nodiscard]] bool at_boundary() const noexcept { return begin_ == buffer_.size(); }
  // Bytes held; what a caller compares with its own ceiling before it reads on.
  [[nodiscard]] std::size_t buffered() const noexcept { return buffer_.size() - begin_; }

 private:
  void drop_taken();

  Bytes buffer_;
  std::size_t begin_ = 0;  // first byte not yet taken
  bool failed_ = false;
};

}  // namespace loom
