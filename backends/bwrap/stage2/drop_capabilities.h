#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "failure.h"

namespace loom::bwrap {

// "CAP_NET_RAW" for 13; "CAP_77" for a number without a name.
[[nodiscard]] std::string capability_name(std::uint32_t number);

// Gives up every capability but `keep` in all five sets (D6). Bounding set and SECBIT_NOROOT need
// CAP_SETPCAP; without it they stay as they are. Returns the entries for the report, from reading
// the sets back: "caps=none" or "caps=CAP_A,CAP_B", and "unheld:caps=bounding" for sets that hold
// more. Asking to keep what is not held is a failure.
[[nodiscard]] StepResult<std::vector<std::string>> drop_capabilities(
    const std::vector<std::uint32_t>& keep);

}  // namespace loom::bwrap
