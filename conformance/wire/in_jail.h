#pragma once

#include "../jail_run.h"
#include "session.h"

namespace loom::conformance {

inline const Words kWireViewClaims = {"bwrap",    "mounts",   "seatbelt-fs",
                                      "seatbelt", "landlock", "landlock-fs"};

// A run as the questions about jails see it: what the command found, and the report.
[[nodiscard]] JailRun seen_by(const Run& run);

// Copies the suite's own probe into the workspace, and says where it is.
[[nodiscard]] Result<std::string> bring_probe(const Session& session);
// The start of that probe with these operations.
[[nodiscard]] Json probe_start(const std::string& probe,
                               const std::vector<std::string>& operations);

// judge_denial, of a run over the wire.
void deny(const Session& session, const Run& run, bool held, const Denial& denial);

}  // namespace loom::conformance
