#pragma once

#include <cstdint>

#include "control.h"

namespace loom::bwrap {

// Puts the exec rule set that came with the commit in force, for good, and tells the host. It was
// made outside of the jail, from handles; what exists only inside is added here: renaming between
// any two directories, which is not this layer's to refuse, and the private scratch where the
// command may run what it makes there. All of it or nothing: a failure (kExecRules) ends stage 2.
// `landlock_abi` is the kernel's. Nothing to do when the commit says that there are no rules.
[[nodiscard]] StepResult<void> enter_exec_rules(const Commit& commit, std::uint32_t landlock_abi,
                                                int control);

}  // namespace loom::bwrap
