#pragma once

#include <loom/unique_fd.h>

#include <string>

namespace loom::bwrap {

// An O_PATH descriptor for the absolute `path`, refusing every symbolic link on the way and at its
// end (ELOOP). Empty on failure; errno says why. Kernels without openat2 (before 5.6) walk by
// component.
[[nodiscard]] UniqueFd open_without_links(const std::string& path);

}  // namespace loom::bwrap
