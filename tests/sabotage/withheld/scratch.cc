#include "guard/snapshot.h"
#include "wrapped.h"

// What is made in the private scratch runs whatever the table says.

namespace loom::guard {

ExecRules real_rules(const Snapshot* snapshot) LOOM_REAL;
ExecRules rules_with_scratch(const Snapshot* snapshot) LOOM_OURS;

ExecRules rules_with_scratch(const Snapshot* snapshot) {
  ExecRules rules = real_rules(snapshot);
  rules.scratch_runs = true;
  return rules;
}

}  // namespace loom::guard
