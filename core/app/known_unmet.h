#pragma once

#include <loom/facts.h>
#include <loom/features.h>
#include <loom/policy.h>
#include <loom/result.h>

#include <string>
#include <vector>

#include "report/conclude.h"

namespace loom::app {

class Session;
struct PreparedRun;

// The part of a demand (D21) that the helper can judge before it starts anything: layers this
// machine does not have, ceilings no control group can hold, paths the plan leaves wider than
// asked. Names them.
[[nodiscard]] Result<void> refuse_known_unmet(const Session& session, const PreparedRun& run);

// What the report of `run` would say if everything that a machine like this offers also held. Pure.
[[nodiscard]] std::vector<std::string> best_possible_entries(const HostFacts& facts,
                                                             const Features& features,
                                                             const PreparedRun& run);

// The ceilings that `policy` asks of a control group, not entered yet, with the reason why this
// machine has none. Only Linux has control groups: elsewhere none is asked for, and who holds the
// ceilings instead, or does not, is the backend's to say. Pure.
[[nodiscard]] CeilingOutcome ceilings_of(const HostFacts& facts, const Policy& policy);

// "bwrap, mounts (protected path /w/x is …)": the missing layers and, for a person, what the report
// says of them. Empty when nothing is missing.
[[nodiscard]] std::string explain_missing(const std::vector<std::string>& missing,
                                          const std::vector<std::string>& entries);

}  // namespace loom::app
