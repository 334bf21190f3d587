#pragma once

#include <loom/backend_abi.h>
#include <loom/result.h>

#include <cstdint>
#include <string>

namespace loom::host {

inline constexpr std::size_t kMaxBackendBytes = 64u << 20;

// What is mapped.
enum class BackendImage : std::uint8_t {
  // A sealed copy. Costs half a millisecond and a megabyte.
  kSealedCopy,
  // The file itself, where it can be mapped. For a process that is gone in a few milliseconds and
  // starts no command, which could rewrite the file under it (ADR 3, ADR 18).
  kFile,
};

// Loads one backend for the rest of the process: opens it trusted (no link, a regular file, owned
// by us or root, not writable by group or others), demands the entry symbol before anything of it
// runs, maps it and checks the table. A second load of another file gets its own mapping. Errors
// name the file and the check.
[[nodiscard]] Result<const loom_backend_v1*> load_backend(
    const std::string& file, BackendImage image = BackendImage::kSealedCopy);

// magic, abi, size, static names, no empty slot. Pure.
[[nodiscard]] Result<void> check_table(const loom_backend_v1* table);

}  // namespace loom::host
