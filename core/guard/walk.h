#pragma once

#include <string_view>

#include "guard/landing.h"
#include "guard/path_walk.h"
#include "guard/walk_error.h"

namespace loom::guard {

// Walks a path as somebody wrote it: absolute, at most 4,095 bytes; ".." leaves the directory that
// the walk is in, a final "/" or "/." asks for a directory. Nothing is opened but names.
// A landing on procfs is kPseudoFs.
//
// May wait for a network file system or an automounter that does not answer.
[[nodiscard]] WalkResult<Landing> walk(std::string_view path, WalkOptions options = {},
                                       const WalkCalls& calls = system_walk_calls());

}  // namespace loom::guard
