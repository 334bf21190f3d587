#pragma once

#include <loom/features.h>

namespace loom::seatbelt {

// Whether the system's launcher is there. Without it nothing runs: there is no weaker jail here.
[[nodiscard]] Features list_features(const HostFacts& facts);

}  // namespace loom::seatbelt
