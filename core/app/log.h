#pragma once

#include <spdlog/logger.h>

namespace loom::app {

// The helper's log: synchronous, on standard error, warnings and errors. One line a message.
[[nodiscard]] spdlog::logger make_log();

}  // namespace loom::app
