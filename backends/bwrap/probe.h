#pragma once

#include <loom/features.h>
#include <loom/result.h>

#include "kernel_facts.h"

namespace loom::bwrap {

// Asks the running kernel. Launches nothing and changes nothing.
[[nodiscard]] KernelFacts probe_kernel();

// The bytes that become HostFacts::backend. The kernel is asked before the hello; what was found
// then still holds before the first plan.
[[nodiscard]] Result<Bytes> probe(const ProbeRequest& request);

}  // namespace loom::bwrap
