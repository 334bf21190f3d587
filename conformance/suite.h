#pragma once

#include "options.h"
#include "results.h"

namespace loom::conformance {

// Judges one backend or one helper: a GoogleTest test for each check, in a fixed order. Prints as
// it goes where text is wanted.
[[nodiscard]] Results run_suite(const Subject& subject, const Options& options);

}  // namespace loom::conformance
