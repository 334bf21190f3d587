#pragma once

#include <loom/plan.h>
#include <loom/result.h>

namespace loom::seatbelt {

[[nodiscard]] Result<Audit> audit(const JailPlan& plan);

}  // namespace loom::seatbelt
