#pragma once

namespace loom::host {

// Takes away what keeps even the owner from removing or changing `name` in `directory`: the
// immutable and append-only flags of macOS (chflags(1)), which a command may set on what is its
// own. Follows no link. Elsewhere only the superuser sets such flags.
#if defined(__APPLE__)
void clear_file_flags(int directory, const char* name) noexcept;
#else
inline void clear_file_flags(int, const char*) noexcept {}
#endif

}  // namespace loom::host
