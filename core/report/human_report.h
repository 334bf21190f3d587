#pragma once

#include <string>

#include "report/denial.h"
#include "report/exec_result.h"

namespace loom {

// The report for a person: one line a layer, what was not held by name, how it ended. Ends with a
// newline. Every line starts with "loom-exec: ".
[[nodiscard]] std::string render_human_report(const ExecResult& result);

// The same as stable JSON (docs/run.md): the wire's keys plus "outcome" and, for a refused start
// that has a record, "denial". One line, newline at the end.
[[nodiscard]] std::string render_json_report(const ExecResult& result,
                                             const Denial* denial = nullptr);

// A refusal for a person: the sentence, the path that was judged, the rules that decided, what may
// be done. A few lines, each as those of the report.
[[nodiscard]] std::string render_human_denial(const Denial& denial);

}  // namespace loom
