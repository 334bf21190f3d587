#include "errno_text.h"

#include <cstring>

namespace loom::bwrap {

std::string errno_text(int error) {
  // A backend has one thread and never sets a locale, so the shared buffer is ours and the text
  // stable.
  return std::strerror(error);
}

}  // namespace loom::bwrap
