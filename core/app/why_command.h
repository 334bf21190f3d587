#pragma once

#include <spdlog/logger.h>

namespace loom::app {

// `loom-exec why`: whether a command could do something, and what decides. Starts nothing and
// changes nothing. Returns the exit status (docs/run.md): 0 admitted (with --requests: all were
// answered), 1 refused, 2 usage, 125 no jail could be planned.
[[nodiscard]] int why_command(int argc, const char* const* argv, spdlog::logger& log);

}  // namespace loom::app
