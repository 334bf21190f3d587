#pragma once

#include <loom/plan.h>

#include <optional>
#include <vector>

#include "layers.h"
#include "resolve.h"

namespace loom::seatbelt {

// The profile's file rules as operations that can be replayed, in order: roots, scratch and what
// the exec table shows, then mounts, then what is protected.
[[nodiscard]] std::vector<MountOperation> build_view(const ResolvedPolicy& policy,
                                                     const Layers& layers,
                                                     const std::optional<ExecRules>& exec);

}  // namespace loom::seatbelt
