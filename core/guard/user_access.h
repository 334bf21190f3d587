#pragma once

namespace loom::guard {

// Whether the effective user may do this (X_OK, W_OK, …) with what a handle denotes, O_PATH or not,
// as open(2) and execve(2) will decide: permission bits, ACLs, capabilities, and mounts that are
// read-only or noexec.
[[nodiscard]] bool user_may(int handle, int mode) noexcept;

}  // namespace loom::guard
