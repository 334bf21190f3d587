#pragma once

#include "failure.h"
#include "prepare_document.h"

namespace loom::bwrap {

// A planned mask is not a mask in place (D22): looks at "/", and at every mask, pin and read-only
// bind, from inside the jail. Words lost on the way to the launcher and links exchanged during
// set-up both end here.
[[nodiscard]] StepResult<void> check_view(const PrepareDocument& document);

}  // namespace loom::bwrap
