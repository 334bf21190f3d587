#pragma once

#include <loom/backend.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/windows/installation.h"
#include "host/windows/job_process.h"

namespace loom::windows {

// What the operator's command line decides for the life of the helper.
struct SessionOptions {
  std::string backend{};  // a name, a path with a drive, or empty for the platform's own
  Demand demand = Demand::kBestEffort;
  std::vector<std::string> keep_capabilities{};
  bool deny_unix_sockets = false;
};

// The command's ends of its pipes, and where its PATH leads. Borrowed.
struct ChildStreams {
  HANDLE in = nullptr;
  HANDLE out = nullptr;
  HANDLE err = nullptr;
};

// What became of a start: a process, or the step that its own start-up would have failed in.
struct StartedRun {
  std::optional<JobProcess> process;
  bool no_directory = false;  // cwd is missing or no directory
  int exec_error = 0;         // errno: the program was not found, or Windows does not run it
};

// One loaded backend. Also the backend's host: the only place from which it can start anything, and
// only the launch that render gave.
class Session final : public HostServices {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Session>> open(const Installation& installation,
                                                             SessionOptions options);

  [[nodiscard]] JailBackend& backend() noexcept { return *backend_; }
  [[nodiscard]] const SessionOptions& options() const noexcept { return options_; }
  [[nodiscard]] const Features& features() const noexcept { return features_; }
  [[nodiscard]] const HostFacts& facts() const noexcept { return facts_; }
  [[nodiscard]] const SystemPlaces& places() const noexcept { return places_; }
  [[nodiscard]] std::string next_nonce() { return std::to_string(++runs_); }

  // Has the backend start `launch`, connected to `streams`. `search`: where a program without a
  // directory is looked for.
  [[nodiscard]] Result<StartedRun> start(const LaunchSpec& launch, const ChildStreams& streams,
                                         const std::vector<std::string>& search);

  void log(LogLevel level, std::string_view utf8) override;
  Result<TrialResult> try_launch(const LaunchSpec& launch, std::uint32_t deadline_ms) override;
  Result<std::int32_t> spawn(const LaunchSpec& launch) override;
  Result<ExecObject> next_exec_object() override;
  Result<std::vector<std::int32_t>> children(std::int32_t pid) override;

 private:
  struct PendingStart {
    const LaunchSpec* launch;
    const ChildStreams* streams;
    const std::vector<std::string>* search;
    std::optional<StartedRun> started;
  };
  explicit Session(SessionOptions options) : options_(std::move(options)) {}
  [[nodiscard]] Result<StartedRun> start_program(const LaunchSpec& launch) const;

  SessionOptions options_;
  SystemPlaces places_;
  HostFacts facts_;
  Features features_;
  PendingStart* pending_ = nullptr;  // set only while the backend's start runs
  std::uint64_t runs_ = 0;
  std::unique_ptr<JailBackend> backend_;  // last: it borrows this host
};

}  // namespace loom::windows
