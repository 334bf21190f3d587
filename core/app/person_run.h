#pragma once

#include <loom/result.h>
#include <spdlog/logger.h>

#include <cstdint>
#include <memory>

#include "app/prepare_run.h"
#include "app/run_options.h"
#include "app/session.h"

namespace loom::app {

enum class Purpose : std::uint8_t {
  kRun,
  kShow,  // nothing is demanded, so what would be refused shows too; nothing is made on the host
  kAsk,   // as kShow; only paths matter, so nobody asks for control groups
};

// What every command of a person begins with. The backend has not been probed to the end.
struct PersonGrounds {
  Caller caller;
  Policy policy;
  std::unique_ptr<Session> session;
};

// Makes the paths of `options` absolute on the way. Errors are sentences for the person.
[[nodiscard]] Result<PersonGrounds> open_for_person(RunOptions& options, Purpose purpose,
                                                    spdlog::logger& log);

// What `run` and `plan` share: from options to a decided run.
struct PersonRun {
  std::unique_ptr<Session> session;
  PreparedRun run;
};

// Errors are sentences for the person.
[[nodiscard]] Admission<PersonRun> decide_for_person(RunOptions options, Purpose purpose,
                                                     spdlog::logger& log);

}  // namespace loom::app
