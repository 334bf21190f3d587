#include <loom/other_names.h>

#include "wrapped.h"

// What the mounts of the host show once more is not excluded there.

namespace loom::guard {

class ReplaceableLinks;
using OtherNames = std::vector<OtherName>;
// A member function is called like one that takes the object first.
OtherNames real_names(const ReplaceableLinks* links, const AbsolutePath& real) LOOM_REAL;
OtherNames no_names(const ReplaceableLinks* links, const AbsolutePath& real) LOOM_OURS;

[[gnu::used]] constexpr auto kReal = &real_names;

OtherNames no_names(const ReplaceableLinks*, const AbsolutePath&) { return {}; }

}  // namespace loom::guard
