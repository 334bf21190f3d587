#pragma once

#include <sys/types.h>

namespace loom::guard {

// What a helper makes on the host where a protected path is absent bears a mark in its mode. Nobody
// makes such directories by hand: one that nobody may enter, and one that only its owner may write
// and that is sticky all the same.
inline constexpr mode_t kLeafMode = 01444;          // at the protected path itself; empty
inline constexpr mode_t kIntermediateMode = 01755;  // on the way there; holds placeholders only

// Whether a directory of this mode (st_mode) bears a mark. Says nothing about what it holds.
[[nodiscard]] bool bears_mark(mode_t mode) noexcept;

// Whether a directory is nothing but what helpers made: marked, and holding nothing but
// placeholders on the same device. (A leaf is empty, until another run needs a name below it: it
// becomes an intermediate then, perhaps just now.) To a policy that is a missing path. Lists marked
// directories only, 4,096 entries and 256 levels at most; what cannot be listed is no placeholder.
// Follows no link and enters no mount.
//
// The directory is given by any handle (O_PATH will do), which stays the caller's, or by its name
// in a directory.
[[nodiscard]] bool is_placeholder(int directory_fd) noexcept;
[[nodiscard]] bool is_placeholder(int parent_fd, const char* name) noexcept;

}  // namespace loom::guard
