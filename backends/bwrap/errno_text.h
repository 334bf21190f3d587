#pragma once

#include <string>

namespace loom::bwrap {

// The system's words for an errno, without the path and without the number.
[[nodiscard]] std::string errno_text(int error);

}  // namespace loom::bwrap
