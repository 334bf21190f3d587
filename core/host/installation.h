#pragma once

#include <loom/facts.h>
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

// The file of a backend: "" is the platform's own, a name is a file of the fixed folder and never a
// way out of it, an absolute path is itself. Pure. Anything else is kInvalidRequest.
[[nodiscard]] Result<std::string> backend_file(const Installation& installation,
                                               const std::string& wanted);

// Operating system, architecture and user; nothing else of the facts.
[[nodiscard]] HostFacts machine_facts();

}  // namespace loom::host
