#pragma once

#include <spdlog/logger.h>

namespace loom::app {

// The helper's log: synchronous, on standard error, one line a message. Warnings and errors; all of
// it where the environment says LOOM_LOG=debug.
[[nodiscard]] spdlog::logger make_log();

}  // namespace loom::app
