#pragma once

#include <string>

namespace loom::host {

// The kernel's words for an errno, without a path: "No such file or directory".
[[nodiscard]] std::string errno_text(int error);

}  // namespace loom::host
