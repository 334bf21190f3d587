#pragma once

#include <spdlog/logger.h>

namespace loom::app {

// Server mode: reads the base policy from descriptor 3 and serves frames on 0 and 1 until the
// broker is done (docs/wire.md). `argv` holds the server flags. Returns the exit status.
[[nodiscard]] int serve_command(int argc, const char* const* argv, spdlog::logger& log);

// Usage on standard error.
void print_usage();

}  // namespace loom::app
