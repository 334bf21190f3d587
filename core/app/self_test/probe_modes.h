#pragma once

#include <optional>

namespace loom::app {

// The payloads of the self-test that are the helper itself (docs/self-test.md 4). Each prints lines
// on stdout and initialises nothing else of the helper. Nothing for a command line that selects
// none; otherwise the exit status.
[[nodiscard]] std::optional<int> run_probe_mode(int argc, const char* const* argv);

}  // namespace loom::app
