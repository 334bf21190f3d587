#pragma once

#include <string>
#include <vector>

#include "app/self_test/gates.h"
#include "app/self_test/verdict.h"

namespace loom::app {

// The self-test's output, part by part (docs/self-test.md 1). Each ends with a newline; no reason
// holds one.

// Title, features, and the empty line after them.
[[nodiscard]] std::string render_heading(const std::vector<std::string>& features);

// "  ENFORCED  name" or "  FAILED    name (detail)".
[[nodiscard]] std::string render_verdict(const NamedVerdict& probe);

// Everything after the last verdict. `interrupted`: probes after the last one were not run.
[[nodiscard]] std::string render_summary(const std::vector<NamedVerdict>& probes, bool interrupted);

// Everything after the heading when no probe is run.
[[nodiscard]] std::string render_not_run(const NotRun& gate);

// 0 when nothing failed and nothing was left out, even if everything was skipped; else 1.
[[nodiscard]] int exit_status(const std::vector<NamedVerdict>& probes, bool interrupted);

}  // namespace loom::app
