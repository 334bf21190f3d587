#pragma once

#include "failure.h"
#include "prepare_document.h"

namespace loom::bwrap {

// Puts the document's rule set in force for this process and all it starts. Needs no_new_privs. The
// document's rights are the caller's business: what the kernel does not know is a failure here,
// never a rule set with less in it.
[[nodiscard]] StepResult<void> apply_landlock(const PrepareDocument& document);

}  // namespace loom::bwrap
