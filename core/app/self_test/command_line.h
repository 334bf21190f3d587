#pragma once

#include <cstdint>
#include <string>

namespace loom::app {

// The words of a process' command line with a NUL behind each; empty when the process is gone or
// the system does not say.
[[nodiscard]] std::string command_line(std::int32_t pid);

}  // namespace loom::app
