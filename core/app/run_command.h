#pragma once

#include <spdlog/logger.h>

namespace loom::app {

// Exit statuses of `run` where nothing ran (docs/run.md 4).
inline constexpr int kNotSetUp = 125;       // the jail was not set up
inline constexpr int kNotExecutable = 126;  // the program cannot be executed
inline constexpr int kNotFound = 127;       // the program is not there

// `loom-exec run`: one command for a person. Returns the exit status (docs/run.md).
[[nodiscard]] int run_command(int argc, const char* const* argv, spdlog::logger& log);

// `loom-exec plan`: prints what run would do, starts nothing.
[[nodiscard]] int plan_command(int argc, const char* const* argv, spdlog::logger& log);

}  // namespace loom::app
