#pragma once

#include <loom/backend.h>
#include <loom/features.h>
#include <loom/result.h>

#include "kernel_facts.h"

namespace loom::bwrap {

// Asks the running kernel. Launches nothing and changes nothing.
[[nodiscard]] KernelFacts probe_kernel();

// The bytes that become HostFacts::backend. The kernel is asked before the hello, and what was
// found then still holds before the first plan, when bubblewrap is tried through `host`.
[[nodiscard]] Result<Bytes> probe(const ProbeRequest& request, HostServices& host);

}  // namespace loom::bwrap
