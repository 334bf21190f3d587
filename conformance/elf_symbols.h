#pragma once

#include <loom/result.h>

#include <string>
#include <vector>

namespace loom::conformance {

// The names that a shared object of this system offers to others, sorted; read from its dynamic
// symbol table without mapping it to run.
[[nodiscard]] Result<std::vector<std::string>> exported_symbols(const std::string& file);

}  // namespace loom::conformance
