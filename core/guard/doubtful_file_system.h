#pragma once

#include <optional>
#include <string_view>

namespace loom::guard {

// The name of the file system that an object lies on, where that may give one file several objects
// in the kernel, so that a rule on one is none on the next (9P, FUSE and what comes over a network;
// guard L19). Nothing where it keeps them, overlays included, and where the kernel does not say.
[[nodiscard]] std::optional<std::string_view> doubtful_file_system(int handle) noexcept;

}  // namespace loom::guard
