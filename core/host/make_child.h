#pragma once

#include <loom/result.h>

#include "host/child_entry.h"
#include "host/spawn.h"
#include "host/syscalls.h"

namespace loom::host {

// The step of spawn that each system takes in its own way: a new process that enters child_main
// with `spec`, of which the process gets a copy or borrows it. Sets what of `spec` only this step
// can know. Fails with kSystem when there is no child, and with kUnsupported where the image cannot
// be executed by handle.
[[nodiscard]] Result<SpawnedChild> make_child(ChildSpec& spec, const Syscalls& syscalls);

// Whether make_child returns only once a child without a gate has executed, or has said why not;
// until then that child borrows our memory. Elsewhere every child has a copy of it, and the caller
// waits for the end of the report pipe.
[[nodiscard]] bool child_borrows_memory() noexcept;

// Waits until the child, which was killed, has ended, for `patience_ms` at most.
void await_child_end(const SpawnedChild& child, int patience_ms) noexcept;

}  // namespace loom::host
