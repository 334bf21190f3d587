#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace loom {

[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

// Valid UTF-8. The only thing the wire encoder takes for a string that came from elsewhere. Each
// byte that is not part of a valid sequence becomes U+FFFD; nothing else changes.
class Utf8 {
 public:
  Utf8() = default;
  [[nodiscard]] static Utf8 sanitise(std::string_view text);
  [[nodiscard]] const std::string& str() const noexcept { return text_; }
  friend bool operator==(const Utf8&, const Utf8&) = default;

 private:
  explicit Utf8(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

// For messages and logs: `text` with control bytes, backslash, quote and invalid UTF-8 as \xNN, cut
// at `max_bytes` (the ellipsis included) with an ellipsis. Control bytes are C0, DEL and C1. Never
// used for anything a program compares.
[[nodiscard]] std::string escaped(std::string_view text, std::size_t max_bytes = 4096);

// The same for a whole sentence from elsewhere, which may quote and escape names itself: backslash
// and quote stay as they are.
[[nodiscard]] std::string printable(std::string_view text, std::size_t max_bytes = 4096);

}  // namespace loom
