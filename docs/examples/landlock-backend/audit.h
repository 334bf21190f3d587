#pragma once

#include <loom/plan.h>
#include <loom/result.h>

namespace landlock {

// What a plan gives, in the report's words: claims for when the inner stage has reported, and by
// name whatever is not held.
[[nodiscard]] loom::Result<loom::Audit> audit(const loom::JailPlan& plan);

}  // namespace landlock
