#pragma once

#include <loom/result.h>

#include <string>

namespace loom::host {

// Where the helper is installed, seen from its own executable; an unpacked tree works anywhere.
struct Installation {
  std::string executable;         // resolved once, links followed
  std::string backend_directory;  // ../lib/loom-exec/backends
  std::string libexec_directory;  // ../libexec/loom-exec
};

[[nodiscard]] Result<Installation> find_installation();

}  // namespace loom::host
