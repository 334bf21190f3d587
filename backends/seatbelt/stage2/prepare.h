#pragma once

#include <loom/report.h>

#include "failure.h"
#include "prepare_document.h"

namespace loom::seatbelt {

// Restricts this process, for good, to what the document says, and returns what is now in force.
// What cannot be set is reported as skipped; only the limits that every system has, and a fork
// brake, end the run.
[[nodiscard]] StepResult<InnerReport> prepare(const PrepareDocument& document);

// Writes the whole report and closes the pipe; a host that read half a report would claim too
// little.
[[nodiscard]] StepResult<void> write_report(const InnerReport& report, int report_fd);

}  // namespace loom::seatbelt
