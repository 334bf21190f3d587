#pragma once

#include <loom/features.h>
#include <loom/result.h>

namespace loom::bwrap {

// Whether a run on such a machine is built by bubblewrap. Otherwise it is degraded: stage 2 alone.
// Until bubblewrap was tried it is taken at its presence.
[[nodiscard]] bool has_jail(const HostFacts& facts);

[[nodiscard]] Result<Features> list_features(const HostFacts& facts);

}  // namespace loom::bwrap
