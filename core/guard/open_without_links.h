#pragma once

#include <loom/absolute_path.h>
#include <loom/unique_fd.h>

namespace loom::guard {

// What one lookup gave: a handle, or the errno that says why not.
struct Opened {
  UniqueFd handle{};
  int error = 0;
};

// O_PATH and close-on-exec, with `flags` (0 or O_DIRECTORY) besides; ELOOP when a link is on the
// way or at the end. In one system call, or component by component where the kernel (before 5.6) or
// a filter knows no openat2(2).
[[nodiscard]] Opened open_without_links(const AbsolutePath& path, int flags);

}  // namespace loom::guard
