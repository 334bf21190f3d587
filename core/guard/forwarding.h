#pragma once

#include <loom/absolute_path.h>

#include <string>
#include <vector>

#include "guard/program_rules.h"

namespace loom::guard {

// What a program of the system starts in its own place, as absolute names that are there: the shell
// that was chosen for /bin/sh; of a stub the developer tool of its name, which can be in two
// places. None where the program does not forward, or to nothing. Follows the links of the system
// and no variable: DEVELOPER_DIR is the command's to set.
[[nodiscard]] std::vector<std::string> forwarding_targets(const ForwardingPrograms& forwarding,
                                                          const AbsolutePath& program);

}  // namespace loom::guard
