#pragma once

#include <spdlog/logger.h>

#include "app/server_flags.h"

namespace loom::app {

// Server mode: reads the base policy from descriptor 3 and serves frames on 0 and 1 until the
// broker is done (docs/wire.md). `argv` holds the server flags. Returns the exit status.
[[nodiscard]] int serve_command(int argc, const char* const* argv, spdlog::logger& log);

}  // namespace loom::app
