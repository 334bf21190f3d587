#pragma once

#include <loom/bytes.h>

#include <algorithm>
#include <cstddef>
#include <span>

namespace loom::host {

// What of the pieces comes after their first `gone` bytes.
[[nodiscard]] inline Bytes joined_after(std::size_t gone, std::span<const ByteView> pieces) {
  std::size_t size = 0;
  for (const ByteView piece : pieces) size += piece.size();
  Bytes rest;
  if (gone >= size) return rest;
  rest.reserve(size - gone);
  for (const ByteView piece : pieces) {
    const ByteView left = piece.subspan(std::min(gone, piece.size()));
    gone -= piece.size() - left.size();
    rest.insert(rest.end(), left.begin(), left.end());
  }
  return rest;
}

}  // namespace loom::host
