#include "protocol/frame_reader.h"

#include <string>

namespace loom {
namespace {

constexpr std::size_t kKeptCapacity = 65'536;  // more than this is given back when empty

std::size_t read_prefix(ByteView bytes) {
  std::size_t length = 0;
  for (std::size_t i = 0; i < kFramePrefixBytes; ++i) {
    length = (length << 8U) | std::to_integer<std::size_t>(bytes[i]);
  }
  return length;
}

}  // namespace

void FrameReader::feed(ByteView chunk) {
  if (failed_) return;
  drop_taken();
  buffer_.insert(buffer_.end(), chunk.begin(), chunk.end());
}

// Moves the rest forward only when that is less than what it frees: each byte moves once on
// average.
void FrameReader::drop_taken() {
  if (begin_ == buffer_.size()) {
    buffer_.clear();
    begin_ = 0;
    if (buffer_.capacity() > kKeptCapacity) buffer_.shrink_to_fit();
  } else if (begin_ >= buffered()) {
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(begin_));
    begin_ = 0;
  }
}

Result<std::optional<Bytes>> FrameReader::next() {
  if (failed_) return fail(ErrorCode::kInvalidRequest, "the stream is broken");
  const ByteView held = ByteView(buffer_).subspan(begin_);
  if (held.size() < kFramePrefixBytes) return std::optional<Bytes>();
  const std::size_t length = read_prefix(held);
  if (length == 0 || length > kMaxFrameBytes) {
    failed_ = true;
    return fail(ErrorCode::kInvalidRequest, "frame length " + std::to_string(length) +
                                                " is not between 1 and " +
                                                std::to_string(kMaxFrameBytes));
  }
  if (held.size() - kFramePrefixBytes < length) return std::optional<Bytes>();
  const ByteView payload = held.subspan(kFramePrefixBytes, length);
  std::optional<Bytes> frame(std::in_place, payload.begin(), payload.end());
  begin_ += kFramePrefixBytes + length;
  drop_taken();
  return frame;
}

}  // namespace loom
