#include "app/log.h"

#include <spdlog/sinks/stdout_sinks.h>

#include <memory>

namespace loom::app {

spdlog::logger make_log() {
  spdlog::logger log("loom-exec", std::make_shared<spdlog::sinks::stderr_sink_st>());
  log.set_pattern("loom-exec: %l: %v");
  log.set_level(spdlog::level::warn);
  return log;
}

}  // namespace loom::app
