#pragma once

#include <loom/result.h>

#include <cstring>
#include <string>
#include <utility>

namespace loom::guard {

// The kernel's words for an errno.
[[nodiscard]] inline std::string errno_words(int error) {
#ifdef __APPLE__
  return ::strerror(error);  // one thread
#else
  const char* const words = ::strerrordesc_np(error);
  return words != nullptr ? std::string(words) : "error " + std::to_string(error);
#endif
}

// kSystem, "<what>: <the kernel's words>".
[[nodiscard]] inline tl::unexpected<Error> system_error(const std::string& what, int error) {
  return fail(ErrorCode::kSystem, what + ": " + errno_words(error), error);
}

}  // namespace loom::guard
