#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>

namespace loom::host {

// Why the helper loads or runs no file with this status: somebody who is neither its user nor root
// owns it or may write to it. Nothing when it may.
[[nodiscard]] std::optional<std::string> distrust(const struct stat& status);

}  // namespace loom::host
