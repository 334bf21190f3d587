#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "app/self_test/stop_signals.h"

namespace loom::app {

// Processes, other than this one, whose command line holds `word` (a path or a marker of ours): a
// look from outside at what goes on in a jail, or has outlived it.
[[nodiscard]] std::vector<std::int32_t> find_processes(std::string_view word);

// Whether one of them is there within two seconds: one that was just forked may not be itself yet.
[[nodiscard]] bool process_appears(std::string_view word, StopSignals& stop);

// Whether all of them are gone within two seconds: one that was killed may still be ending.
[[nodiscard]] bool processes_vanish(std::string_view word, StopSignals& stop);

}  // namespace loom::app
