#pragma once

#include <spdlog/logger.h>

namespace loom::app {

inline constexpr int kNotSetUp = 125;  // exit status of `run`: the jail was not set up

// `loom-exec run`: one command for a person. Returns the exit status (docs/run.md).
[[nodiscard]] int run_command(int argc, const char* const* argv, spdlog::logger& log);

// `loom-exec plan`: prints what run would do, starts nothing.
[[nodiscard]] int plan_command(int argc, const char* const* argv, spdlog::logger& log);

}  // namespace loom::app
