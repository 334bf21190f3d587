#pragma once

#include <loom/result.h>

#include <cstdint>
#include <string_view>

namespace loom::bwrap {

// The kernel's number of a capability named as in "CAP_NET_RAW"; kInvalidRequest names one that
// this build does not know.
[[nodiscard]] Result<std::uint32_t> capability_number(std::string_view name);

}  // namespace loom::bwrap
