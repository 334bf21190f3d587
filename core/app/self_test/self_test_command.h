#pragma once

#include <spdlog/logger.h>

namespace loom::app {

// `loom-exec --self-test`: real executions through the real start path on the running kernel, and
// what held (docs/self-test.md). Returns the exit status.
[[nodiscard]] int self_test_command(int argc, const char* const* argv, spdlog::logger& log);

}  // namespace loom::app
