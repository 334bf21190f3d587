#include "stopped_launch.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "app/prepare_run.h"
#include "host/control_channel.h"
#include "host/descriptors.h"

namespace loom::conformance {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
constexpr auto kPatience = std::chrono::seconds(20);

std::string whole_file(const std::string& name) {
  std::ifstream file(name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Ends {
  host::PipeEnds out;
  host::PipeEnds report;
  host::ControlPair control;
  UniqueFd in;
  UniqueFd nothing;
};

Result<Ends> open_ends() {
  Ends ends;
  LOOM_TRY(ends.out, host::open_pipe());
  LOOM_TRY(ends.report, host::open_pipe());
  LOOM_TRY(ends.control, host::make_control_pair());
  LOOM_TRY(host::PipeEnds in, host::open_pipe());
  ends.in = std::move(in.read_end);
  ends.nothing.reset(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!ends.nothing) return fail(ErrorCode::kSystem, "/dev/null cannot be opened");
  return ends;
}

// The process that says that it is ready.
Result<pid_t> await_ready(int control) {
  const auto deadline = Clock::now() + kPatience;
  while (Clock::now() < deadline) {
    pollfd ready{.fd = control, .events = POLLIN, .revents = 0};
    ::poll(&ready, 1, 100);
    LOOM_TRY(const host::ReceivedControl received, host::receive_control(control));
    if (received.closed)
      return fail(ErrorCode::kDenied, "the inner stage ended before it was ready");
    if (!received.message) continue;
    if (received.message->kind == ControlKind::kReady) return received.sender;
    if (received.message->kind == ControlKind::kFailed) {
      return fail(ErrorCode::kDenied, "the inner stage gave up: " + received.message->detail);
    }
  }
  return fail(ErrorCode::kSystem, "the inner stage was not ready in 20 s");
}

Result<InnerReport> read_report(int pipe) {
  Bytes bytes(kMaxInnerReportBytes + 1);
  const ssize_t got = ::read(pipe, bytes.data(), bytes.size());
  if (got <= 0) return fail(ErrorCode::kDenied, "the inner stage is ready and sent no report");
  return decode_inner_report(ByteView(bytes).first(static_cast<std::size_t>(got)));
}

bool same_namespace(pid_t pid) {
  std::error_code error;
  const fs::path theirs = fs::read_symlink("/proc/" + std::to_string(pid) + "/ns/mnt", error);
  return !error && theirs == fs::read_symlink("/proc/self/ns/mnt", error);
}

Result<StoppedLaunch> look(const Ends& ends) {
  LOOM_TRY(const pid_t pid, await_ready(ends.control.host.get()));
  const std::string process = "/proc/" + std::to_string(pid);
  StoppedLaunch stopped;
  stopped.status_lines = whole_file(process + "/status");
  stopped.mounts = whole_file(process + "/mountinfo");
  stopped.same_mounts = same_namespace(pid);
  LOOM_TRY(stopped.report, read_report(ends.report.read_end.get()));
  return stopped;
}

}  // namespace

std::string StoppedLaunch::status(std::string_view name) const {
  std::istringstream lines(status_lines);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(name) || line[name.size()] != ':') continue;
    const std::size_t at = line.find_first_not_of(" \t", name.size() + 1);
    return at == std::string::npos ? std::string() : line.substr(at);
  }
  return {};
}

Result<StoppedLaunch> launch_and_stop(app::Session& session, const Policy& policy,
                                      const Place& place) {
  app::RunRequest request{.argv = {"/bin/true"},
                          .environment = {},
                          .cwd = place.at("work"),
                          .policy = policy,
                          .exec = {},
                          .id = 1};
  auto prepared = app::prepare_run(session, std::move(request));
  if (!prepared) return tl::unexpected<Error>(prepared.error().error);
  if (prepared->launch.report_number < 0) {
    return fail(ErrorCode::kUnsupported, "there is no inner stage here");
  }
  LOOM_TRY_VOID(app::audit_run(session, *prepared));
  LOOM_TRY(Ends ends, open_ends());
  auto started =
      session.start(prepared->launch,
                    {.in = ends.in.get(),
                     .out = ends.out.write_end.get(),
                     .err = ends.out.write_end.get(),
                     .report = ends.report.write_end.get(),
                     .control = ends.control.child.get(),
                     .nothing = ends.nothing.get(),
                     .caretaker = prepared->made ? prepared->made->registration_fd() : -1,
                     .run = prepared->made ? prepared->made->run() : 0},
                    1);
  if (!started) return tl::unexpected<Error>(started.error().error);
  ends.report.write_end.reset();
  ends.control.child.reset();
  auto stopped = look(ends);
  // Without a commit it gives up; nobody waits for that.
  ends.control.host.reset();
  ::kill(-started->child.pid, SIGKILL);
  ::waitpid(started->child.pid, nullptr, 0);
  session.backend().finish();
  if (!stopped) return stopped;
  stopped->claims_when_witnessed = prepared->audit.when_witnessed;
  return stopped;
}

}  // namespace loom::conformance
