#pragma once

#include <loom/result.h>

#include <string>

namespace loom::host {

// The file that this process runs, absolute, links followed.
[[nodiscard]] Result<std::string> own_executable();

}  // namespace loom::host
