#pragma once

#include <loom/backend.h>
#include <loom/result.h>
#include <loom/unique_fd.h>

#include <string>

namespace loom::bwrap {

// What the kernel is told of an exec table: a Landlock rule set that admits each object and nothing
// else. Made outside of the jail, from the host's handles: names inside were made by bubblewrap,
// and must not decide what runs.
struct ExecRuleSet {
  UniqueFd rules;
  std::string entry;  // "exec-landlock:rules=N,listed=N,support=N"
};

// Asks the host for the objects, one after the other, until there are no more. The first that the
// kernel refuses ends it: never a part of the rules. Errors name the step and the object.
[[nodiscard]] Result<ExecRuleSet> make_exec_rule_set(HostServices& host);

}  // namespace loom::bwrap
