#pragma once

#include <loom/plan.h>
#include <loom/policy.h>
#include <loom/result.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace loom::app {

enum class ReportForm : std::uint8_t { kHuman, kJson, kNone };

// `loom-exec run`, `loom-exec plan` and `loom-exec why`, as typed (docs/run.md).
struct RunOptions {
  std::string workspace{};  // empty: the current directory
  std::vector<std::string> read{};
  std::vector<std::string> write{};
  std::vector<std::string> protect{};
  std::vector<std::string> mounts{};  // PATH, PATH:ro or PATH:rw
  std::string network = "off";
  std::vector<std::string> env{};  // NAME or NAME=VALUE
  std::string cwd{};  // empty: the current directory if the workspace holds it, else the workspace
  Limits limits{};
  std::string policy_file{};  // excludes everything above but env and cwd
  Demand demand = Demand::kPlatform;
  std::string backend{};
  std::vector<std::string> keep_capabilities{};
  bool deny_unix_sockets = false;
  std::string cgroup_base{};
  ReportForm report = ReportForm::kHuman;
  std::string report_file{};  // empty: standard error
  bool show_filter = false;   // `plan` only: the system-call filter and nothing else
  std::vector<std::string> command{};
  // `why` only
  std::vector<std::string> question{};  // operation and paths
  bool json = false;
  std::string requests_file{};  // questions instead of one; "-" is standard input
};

// Every path of the options that has a ".." in it as the kernel would resolve it now: behind a
// link,
// ".." is not the directory in front of it. Touches the disk.
void resolve_parent_steps(RunOptions& options, const std::string& directory);

// What the options are read against.
struct Caller {
  std::string directory{};                           // physical current directory
  std::map<std::string, std::string> environment{};  // the helper's own
};

// A parsed command line, or the exit status to end with at once (help was asked for, or a usage
// error that has been explained on standard error).
struct ParsedOptions {
  RunOptions options;
  std::optional<int> exit_status;
};
[[nodiscard]] ParsedOptions parse_run_options(const char* subcommand, int argc,
                                              const char* const* argv);

// The policy that the options describe; every rule of a policy document holds for it. Pure.
[[nodiscard]] Result<Policy> policy_of(const RunOptions& options, const Caller& caller);

// The environment to ask for: the caller's values of what `policy` allows, HOME in the scratch
// unless
// --env names it, then --env. An --env name that the policy does not allow is an error. Pure.
[[nodiscard]] Result<std::map<std::string, std::string>> requested_environment(
    const RunOptions& options, const Caller& caller, const Policy& policy, bool has_scratch);

// Whether --env says what HOME is, or that it is the caller's own. Pure.
[[nodiscard]] bool chooses_home(const RunOptions& options);

// Where the command starts. Pure.
[[nodiscard]] Result<std::string> directory_of(const RunOptions& options, const Caller& caller,
                                               const Policy& policy);

}  // namespace loom::app
