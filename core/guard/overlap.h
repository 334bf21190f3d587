#pragma once

#include <cstddef>

#include "guard/guard.h"

namespace loom::guard {

// Admitted directories that a write of the command reaches: one that lies in a region that it may
// write, or with such a region in it, where it could put a program and run it (L7). By name and by
// the identities that snapshot and view were made with. A table that allows everything counts as
// one directory, "/".
[[nodiscard]] std::size_t exec_writable(const Snapshot& snapshot, const ShownView& shown);

}  // namespace loom::guard
