#pragma once

#include <loom/facts.h>
#include <loom/result.h>

#include <string>
#include <vector>

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

// Where a piece of the backend in `backend_file` may lie, nearest first: a backend in
// PREFIX/lib/loom-exec/backends has its own in PREFIX/libexec/loom-exec; what is not there, and the
// pieces of a backend that lies anywhere else, are the helper's. Pure.
[[nodiscard]] std::vector<std::string> piece_directories(const Installation& installation,
                                                         const std::string& backend_file);

// The stage 2 of the platform's own backend, which may not be there.
[[nodiscard]] std::string own_stage2_file(const Installation& installation);

// Operating system, architecture and user; nothing else of the facts.
[[nodiscard]] HostFacts machine_facts();

}  // namespace loom::host
