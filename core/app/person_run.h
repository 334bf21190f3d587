#pragma once

#include <loom/result.h>
#include <spdlog/logger.h>

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

// `demand` overrides the options' (plan shows also what would be refused). Errors are sentences for
// the person.
[[nodiscard]] Result<PersonRun> decide_for_person(RunOptions options, Demand demand,
                                                  spdlog::logger& log);

}  // namespace loom::app
