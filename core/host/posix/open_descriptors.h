#pragma once

namespace loom::host {

// The highest descriptor this process has open, or a number above it: there is no call for it, nor
// one that closes a range. Where the kernel lists no descriptors (/dev/fd) each possible number is
// asked about, so it may take a moment.
[[nodiscard]] int highest_descriptor() noexcept;

}  // namespace loom::host
