#pragma once

#include "app/self_test/gates.h"

namespace loom::app {

// What the payloads of the self-test do that is another thing on every system. Each system has a
// source of its own.

// Makes a user and a mount namespace and changes a mount in it. A system without them refuses.
[[nodiscard]] NamespaceAnswer try_namespaces();

// For a child that would otherwise outlive a payload which is killed: ends it with its parent, or
// after half a minute where the kernel cannot do that.
void end_with_parent() noexcept;

}  // namespace loom::app
