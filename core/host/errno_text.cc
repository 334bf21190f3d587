#include "host/errno_text.h"

#include <cstring>

namespace loom::host {

std::string errno_text(int error) {
  // Unlike strerror: no locale, no shared buffer.
  const char* const words = ::strerrordesc_np(error);
  return words != nullptr ? std::string(words) : "error " + std::to_string(error);
}

}  // namespace loom::host
