#pragma once

#include <string>

namespace loom {

// "SIGSEGV" where the number has a name on this platform, else "signal 42".
[[nodiscard]] std::string signal_name(int signal);

// The command's own CPU-time or file-size ceiling sends these.
[[nodiscard]] bool is_cpu_limit_signal(int signal) noexcept;
[[nodiscard]] bool is_file_limit_signal(int signal) noexcept;

}  // namespace loom
