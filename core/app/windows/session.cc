#include "app/windows/session.h"

#include <loom/table_backend.h>
#include <loom/utf8.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "host/windows/command_line.h"
#include "host/windows/load_backend.h"
#include "host/windows/native_path.h"
#include "host/windows/system_text.h"

namespace loom::windows {
namespace {

const char* level_name(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "debug";
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kWarning:
      return "warning";
    case LogLevel::kError:
      return "error";
  }
  return "error";
}

// What a process is given, as the system takes it.
Result<ProcessRequest> process_request(const LaunchSpec& launch, const std::string& image,
                                       const std::string& directory) {
  ProcessRequest request;
  LOOM_TRY(request.image, to_wide(image));
  LOOM_TRY(request.directory, to_wide(directory));
  LOOM_TRY(const std::string line, join_command_line(launch.argv));
  LOOM_TRY(request.command_line, to_wide(line));
  LOOM_TRY(const std::string block, make_environment_block(launch.environment));
  LOOM_TRY(request.environment, to_wide(block));
  if (request.command_line.size() >= kMaxCommandLine) {
    return fail(ErrorCode::kInvalidRequest,
                "the command line is longer than the 32766 characters that Windows takes");
  }
  return request;
}

// Whether the file is to blame, and not the machine.
bool is_about_the_program(int error) {
  return error == ENOENT || error == ENOTDIR || error == EACCES || error == ENOEXEC ||
         error == ENAMETOOLONG;
}

}  // namespace

Result<std::unique_ptr<Session>> Session::open(const Installation& installation,
                                               SessionOptions options) {
  std::unique_ptr<Session> session(new Session(std::move(options)));
  LOOM_TRY(const std::string file, backend_file(installation, session->options_.backend));
  LOOM_TRY(const loom_backend_v1* table, load_backend(file));
  LOOM_TRY(session->backend_, make_table_backend(*table, *session));
  session->places_ = system_places();
  session->facts_ = machine_facts();
  session->facts_.ceilings.reason = "Windows has no control groups";
  LOOM_TRY(const Pieces pieces, session->backend_->pieces());
  if (!pieces.launcher.empty() || !pieces.stage2.empty()) {
    return fail(ErrorCode::kUnsupported,
                "backend " + escaped(file) + ": its programs cannot be started on Windows yet");
  }
  for (const ProbePhase phase : {ProbePhase::kBeforeHello, ProbePhase::kBeforePlan}) {
    LOOM_TRY(session->facts_.backend,
             session->backend_->probe({.phase = phase, .facts = session->facts_}));
  }
  LOOM_TRY(session->features_, session->backend_->features(session->facts_));
  return session;
}

Result<StartedRun> Session::start(const LaunchSpec& launch, const ChildStreams& streams,
                                  const std::vector<std::string>& search) {
  if (launch.image != ImageKind::kCommand || launch.report_number >= 0) {
    return fail(ErrorCode::kBackend, "start: Windows has no launcher and no inner stage");
  }
  PendingStart pending{
      .launch = &launch, .streams = &streams, .search = &search, .started = std::nullopt};
  pending_ = &pending;
  auto started = backend_->start(launch);
  pending_ = nullptr;
  // A process of a backend that failed after its start ends here, with its job.
  if (!started) return tl::unexpected(std::move(started).error());
  if (!pending.started) return fail(ErrorCode::kBackend, "start: the backend spawned nothing");
  return std::move(*pending.started);
}

Result<std::int32_t> Session::spawn(const LaunchSpec& launch) {
  if (pending_ == nullptr) return fail(ErrorCode::kBackend, "spawn: only start may spawn");
  if (pending_->started) return fail(ErrorCode::kBackend, "spawn: a run is spawned once");
  if (!(launch == *pending_->launch)) {
    return fail(ErrorCode::kBackend, "spawn: this is not the launch that render gave");
  }
  LOOM_TRY(pending_->started, start_program(launch));
  const auto& process = pending_->started->process;
  return process ? static_cast<std::int32_t>(process->id()) : 0;
}

Result<StartedRun> Session::start_program(const LaunchSpec& launch) const {
  const std::string directory = native_path(launch.cwd, places_.drive);
  StartedRun run;
  run.no_directory = !is_directory(directory);
  if (run.no_directory) return run;
  const std::vector<std::string> candidates =
      program_candidates(launch.argv.front(), directory, places_.drive, *pending_->search);
  const auto found = std::find_if(candidates.begin(), candidates.end(), is_disk_file);
  if (found == candidates.end()) {
    run.exec_error = ENOENT;
    return run;
  }
  if (!is_startable_name(*found)) {
    return fail(ErrorCode::kDenied,
                "program \"" + escaped(*found, 256) +
                    "\": only .exe and .com files are started; a batch file would be read by "
                    "cmd.exe, which can take an argument for a command");
  }
  LOOM_TRY(ProcessRequest request, process_request(launch, *found, directory));
  request.in = pending_->streams->in;
  request.out = pending_->streams->out;
  request.err = pending_->streams->err;
  auto process = JobProcess::start(request);
  if (process) {
    run.process.emplace(std::move(*process));
    return run;
  }
  if (!is_about_the_program(process.error().sys_errno)) {
    return tl::unexpected(std::move(process).error());
  }
  run.exec_error = process.error().sys_errno;
  return run;
}

void Session::log(LogLevel level, std::string_view utf8) {
  if (level < LogLevel::kWarning) return;
  std::fprintf(stderr, "loom-exec: %s: %s\n", level_name(level), escaped(utf8).c_str());
}

Result<TrialResult> Session::try_launch(const LaunchSpec&, std::uint32_t) {
  return fail(ErrorCode::kUnsupported, "try_launch: Windows has nothing to try");
}

Result<ExecObject> Session::next_exec_object() {
  return fail(ErrorCode::kUnsupported, "next_exec_object: no kernel holds exec rules on Windows");
}

Result<std::vector<std::int32_t>> Session::children(std::int32_t) {
  return std::vector<std::int32_t>();
}

}  // namespace loom::windows
