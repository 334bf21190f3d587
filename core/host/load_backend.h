#pragma once

#include <loom/backend_abi.h>
#include <loom/result.h>

#include <string>

namespace loom::host {

inline constexpr std::size_t kMaxBackendBytes = 64u << 20;

// Loads one backend for the rest of the process: opens it trusted (no link, a regular file, owned
// by us or root, not writable by group or others), maps a sealed copy, demands the entry symbol
// before anything of it runs, and checks the table. A second load of another file gets its own
// mapping. Errors name the file and the check.
[[nodiscard]] Result<const loom_backend_v1*> load_backend(const std::string& file);

// magic, abi, size, static names, no empty slot. Pure.
[[nodiscard]] Result<void> check_table(const loom_backend_v1* table);

}  // namespace loom::host
