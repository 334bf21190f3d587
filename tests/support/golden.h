#pragma once

#include <string>
#include <vector>

namespace loom::test {

// Compares `lines` with tests/golden/<file>, one element a line. LOOM_UPDATE_GOLDENS=1 writes the
// file instead; that is refused where CI is set, since nobody reads the difference there.
void expect_golden(const std::vector<std::string>& lines, const std::string& file);

}  // namespace loom::test
