#pragma once

#include <loom/result.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/exec_result.h"

namespace loom::app {

// One payload that ran in a jail, as everything about it was seen from outside.
struct ProbeRun {
  std::string out;
  std::string err;
  ExecResult result;
  std::chrono::milliseconds settled{0};  // from the start until the helper was free again
};

// Fails, in words that begin with "setup: ", when the payload itself never ran: such a run says
// nothing about any layer. What its streams hold then comes from the launcher.
[[nodiscard]] Result<void> require_payload_ran(const ProbeRun& run);

// The text after "skip:" of the report's first skip named `tag`; nothing when there is none, as
// when the layer was applied.
[[nodiscard]] std::optional<std::string> read_skip(const std::vector<std::string>& entries,
                                                   std::string_view tag);

// Whether the report claims a layer of this name as applied.
[[nodiscard]] bool is_claimed(const std::vector<std::string>& entries, std::string_view tag);

// The first entry that begins with `start`; empty when there is none.
[[nodiscard]] std::string find_entry(const std::vector<std::string>& entries,
                                     std::string_view start);

}  // namespace loom::app
