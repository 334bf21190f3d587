#pragma once

#include <loom/bytes.h>
#include <loom/result.h>
#include <loom/unique_fd.h>

namespace loom::host {

// The three kinds of what make_memory_file gives; kUnsupported when the bytes do not fit that kind.
// For make_memory_file, which takes the first that does, and for tests.
[[nodiscard]] Result<UniqueFd> in_pipe(ByteView bytes);
[[nodiscard]] Result<UniqueFd> in_socket(ByteView bytes);
// In /tmp under a name nobody guesses, for the moment it takes to open it for reading and remove
// the name.
[[nodiscard]] Result<UniqueFd> in_unlinked_file(ByteView bytes);

}  // namespace loom::host
