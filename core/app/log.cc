#include "app/log.h"

#include <spdlog/sinks/stdout_sinks.h>

#include <cstdlib>
#include <memory>
#include <string_view>

namespace loom::app {

spdlog::logger make_log() {
  spdlog::logger log("loom-exec", std::make_shared<spdlog::sinks::stderr_sink_st>());
  log.set_pattern("loom-exec: %l: %v");
  const char* const level = std::getenv("LOOM_LOG");
  const bool all = level != nullptr && std::string_view(level) == "debug";
  log.set_level(all ? spdlog::level::debug : spdlog::level::warn);
  return log;
}

}  // namespace loom::app
