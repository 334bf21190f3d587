#pragma once

#include <loom/result.h>

#include <cstddef>
#include <string>

namespace loom::host {

// `bytes` random bytes as twice as many lower-case hex digits: a name nobody can guess or already
// has. At most 64. Fails with kSystem where the kernel has no random bytes to give.
[[nodiscard]] Result<std::string> random_hex(std::size_t bytes);

}  // namespace loom::host
