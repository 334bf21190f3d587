#pragma once

#include <loom/absolute_path.h>
#include <loom/bytes.h>
#include <loom/result.h>
#include <loom/unique_fd.h>

#include <optional>
#include <string>

namespace loom::host {

// What systems do in their own ways with the handle of a program. On Linux it is the program, and
// is executed; elsewhere a path is executed, and the handle is there to see whether the path still
// leads to what was chosen. `path` is the one that was opened.

enum class ProgramUse : unsigned char {
  kExecute,  // the bytes need not be readable (mode 4711)
  kCopy,
};
// Close-on-exec; never waits for a writer of a FIFO. Nothing, with errno, when it cannot be opened.
[[nodiscard]] UniqueFd open_program(const std::string& path, ProgramUse use) noexcept;

// Whether the effective user may do this (X_OK, W_OK) with the program. errno says why not.
[[nodiscard]] bool may_access(int handle, const std::string& path, int mode) noexcept;

// An own descriptor to read it by; nothing when it cannot be read.
[[nodiscard]] UniqueFd open_to_read(int handle, const std::string& path) noexcept;

// Where the object behind the handle lies, links resolved.
[[nodiscard]] std::optional<AbsolutePath> place_of(int handle, const std::string& path);

// Whether launches execute `path`: then it has to lead to the object of the handle at every launch.
[[nodiscard]] bool runs_by_path() noexcept;

}  // namespace loom::host
