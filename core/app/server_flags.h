#pragma once

#include <loom/plan.h>

#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace loom::app {

// Server mode as typed (docs/wire.md 13).
struct ServerFlags {
  bool allow_unenforced = false;
  std::string backend{};
  std::string cgroup_base{};
  Demand demand = Demand::kBestEffort;
  std::vector<std::string> keep_capabilities{};
  bool deny_unix_sockets = false;
  bool warm = true;  // --no-warm
};

// Or what is wrong with them, in one line: a usage error. Pure.
[[nodiscard]] tl::expected<ServerFlags, std::string> parse_server_flags(int argc,
                                                                        const char* const* argv);

inline constexpr int kUsageError = 2;  // exit status

// Usage on standard error.
void print_usage();

// "loom-exec: MESSAGE" and the usage on standard error; the exit status.
[[nodiscard]] int usage_error(const std::string& message);

}  // namespace loom::app
