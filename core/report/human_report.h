#pragma once

#include <string>

#include "report/exec_result.h"

namespace loom {

// The report for a person: one line a layer, what was not held by name, how it ended. Ends with a
// newline. Every line starts with "loom-exec: ".
[[nodiscard]] std::string render_human_report(const ExecResult& result);

// The same as stable JSON (docs/run.md): the wire's keys plus "outcome". One line, newline at the
// end.
[[nodiscard]] std::string render_json_report(const ExecResult& result);

}  // namespace loom
