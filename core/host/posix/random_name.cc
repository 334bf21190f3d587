#include "host/random_name.h"

#include <loom/check.h>
#include <unistd.h>
#if defined(__APPLE__)
#include <sys/random.h>
#endif

#include <array>
#include <cerrno>
#include <string_view>

#include "host/errno_text.h"

namespace loom::host {

Result<std::string> random_hex(std::size_t bytes) {
  std::array<unsigned char, 64> random{};  // getentropy(2) gives up to 256 bytes whole
  LOOM_CHECK(bytes <= random.size());
  if (::getentropy(random.data(), bytes) != 0) {
    const int error = errno;
    return fail(ErrorCode::kSystem, "random bytes: " + errno_text(error), error);
  }
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (std::size_t i = 0; i < bytes; ++i) {
    hex += kDigits[random[i] >> 4U];
    hex += kDigits[random[i] & 0xfU];
  }
  return hex;
}

}  // namespace loom::host
