#pragma once

#include <loom/plan.h>

#include <cstdint>
#include <string>
#include <vector>

#include "places.h"
#include "prepare_document.h"

namespace landlock {

// What the command sees, as operations in order. Nothing is mounted: each is a rule, or the absence
// of one. Of places that refuse_unholdable let pass.
[[nodiscard]] std::vector<loom::MountOperation> build_view(const Places& places);

// 16 hex digits that tell one view from another.
[[nodiscard]] std::string view_digest(const std::vector<loom::MountOperation>& view);

// What a kernel of this ABI can hold.
[[nodiscard]] std::uint64_t handled_files(std::uint32_t abi);
[[nodiscard]] std::uint64_t handled_tcp(std::uint32_t abi);
[[nodiscard]] std::uint64_t handled_scopes(std::uint32_t abi);

// The Landlock rules that make the view true, in its order, without what the kernel does not know.
[[nodiscard]] std::vector<Rule> rules_of(const std::vector<loom::MountOperation>& view,
                                         std::uint32_t abi);

}  // namespace landlock
