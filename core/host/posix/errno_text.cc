#include "host/errno_text.h"

#include <array>
#include <cstring>

namespace loom::host {

namespace {

// The two kinds of strerror_r: one fills the buffer and says whether, the other returns the words.
[[maybe_unused]] const char* words_of(int failed, const char* buffer) noexcept {
  return failed == 0 ? buffer : nullptr;
}
[[maybe_unused]] const char* words_of(const char* words, const char*) noexcept { return words; }

}  // namespace

// In the C locale, as nobody here sets another.
std::string errno_text(int error) {
  std::array<char, 256> buffer{};
  const char* const words =
      words_of(::strerror_r(error, buffer.data(), buffer.size()), buffer.data());
  return words != nullptr && *words != '\0' ? std::string(words) : "error " + std::to_string(error);
}

}  // namespace loom::host
