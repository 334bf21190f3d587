#pragma once

#include <loom/result.h>
#include <spdlog/logger.h>

#include <cstdint>
#include <memory>

#include "app/prepare_run.h"
#include "app/run_options.h"
#include "app/session.h"

namespace loom::app {

// What `run` and `plan` share: from options to a decided run.
struct PersonRun {
  std::unique_ptr<Session> session;
  PreparedRun run;
};

enum class Purpose : std::uint8_t {
  kRun,
  kShow,  // nothing is demanded, so what would be refused shows too; nothing is made on the host
};

// Errors are sentences for the person.
[[nodiscard]] Result<PersonRun> decide_for_person(RunOptions options, Purpose purpose,
                                                  spdlog::logger& log);

}  // namespace loom::app
