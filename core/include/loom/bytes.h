#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace loom {

using Bytes = std::vector<std::byte>;         // owns
using ByteView = std::span<const std::byte>;  // borrows for the call

[[nodiscard]] inline ByteView as_bytes(std::string_view text) noexcept {
  return std::as_bytes(std::span(text.data(), text.size()));
}

[[nodiscard]] inline std::string_view as_text(ByteView bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace loom
