#pragma once

#include <loom/report.h>

#include "failure.h"
#include "prepare_document.h"

namespace loom::bwrap {

// Restricts this process, for good, to what the document says, and returns what is now in force.
// The steps depend on each other; their order is normative (docs/jail.md).
[[nodiscard]] StepResult<InnerReport> prepare(const PrepareDocument& document);

// Writes the whole report and closes the pipe; a host that read half a report would claim too
// little.
[[nodiscard]] StepResult<void> write_report(const InnerReport& report, int report_fd);

}  // namespace loom::bwrap
