#include "app/self_test/run_unjailed.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "host/descriptors.h"
#include "host/errno_text.h"
#include "host/event_loop.h"
#include "host/exit_status.h"
#include "host/spawn.h"

namespace loom::app {
namespace {

constexpr std::size_t kMaxOutput = 1u << 20;

struct OutputPipe {
  UniqueFd ours;
  UniqueFd childs;
};

Result<OutputPipe> make_output_pipe() {
  LOOM_TRY(host::PipeEnds pipe, host::open_pipe());
  if (::fcntl(pipe.read_end.get(), F_SETFL, O_NONBLOCK) != 0) {
    const int error = errno;
    return fail(ErrorCode::kSystem, "pipe: " + host::errno_text(error), error);
  }
  return OutputPipe{.ours = std::move(pipe.read_end), .childs = std::move(pipe.write_end)};
}

// Takes what there is; false at the end of the stream.
bool drain(int pipe, std::string& text) {
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t got = ::read(pipe, buffer.data(), buffer.size());
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    if (got == 0) return false;
    text.append(buffer.data(), std::min(static_cast<std::size_t>(got), kMaxOutput - text.size()));
  }
}

Result<host::SpawnedChild> spawn_plain(const PlainJob& job, int out, int err) {
  const UniqueFd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!nothing) return fail(ErrorCode::kSystem, "/dev/null: " + host::errno_text(errno), errno);
  host::SpawnRequest request;
  request.candidates = {job.argv.front()};
  request.argv = job.argv;
  request.environment = {std::string("PATH=") + kProbePath};
  request.directory = job.directory;
  request.moves = {
      {.from = nothing.get(), .to = 0}, {.from = out, .to = 1}, {.from = err, .to = 2}};
  LOOM_TRY(host::SpawnedChild child, host::spawn(request));
  if (!child.failure) return child;
  ::waitpid(child.pid, nullptr, 0);
  return fail(ErrorCode::kSystem,
              job.argv.front() + ": " + host::child_step_name(child.failure->step) + ": " +
                  host::errno_text(child.failure->error),
              child.failure->error);
}

}  // namespace

Result<PlainRun> run_unjailed(const PlainJob& job, StopSignals& stop) {
  LOOM_TRY(OutputPipe out, make_output_pipe());
  LOOM_TRY(OutputPipe err, make_output_pipe());
  LOOM_TRY(const host::SpawnedChild child, spawn_plain(job, out.childs.get(), err.childs.get()));
  out.childs.reset();
  err.childs.reset();

  PlainRun run;
  bool ended = false;
  host::EventLoop loop;
  const auto watch = [&](int pipe, std::string& text) {
    loop.watch(pipe, POLLIN, [&loop, &text, pipe](short) {
      if (!drain(pipe, text)) loop.forget(pipe);
    });
  };
  watch(out.ours.get(), run.out);
  watch(err.ours.get(), run.err);
  loop.watch(stop.fd(), POLLIN, [](short) {});
  loop.watch(child.pidfd.get(), POLLIN, [&](short) {
    const auto asked = host::has_ended(child.pidfd.get());
    ended = !asked || *asked;
  });
  loop.at(std::chrono::steady_clock::now() + job.limit, [&run] { run.timed_out = true; });
  Result<void> polled;
  while (polled && !ended && !run.timed_out && !stop.came()) polled = loop.run_once();

  ::kill(-child.pid, SIGKILL);
  // Blocks until it is a zombie; killed, that is soon. Then its status can be had.
  siginfo_t end{};
  static_cast<void>(::waitid(P_PID, static_cast<id_t>(child.pid), &end, WEXITED | WNOWAIT));
  if (const auto status = host::reap_if_ended(child.pidfd.get()); status && *status) {
    run.code = (*status)->code;
  }
  static_cast<void>(drain(out.ours.get(), run.out));
  static_cast<void>(drain(err.ours.get(), run.err));
  LOOM_TRY_VOID(polled);
  if (stop.came()) return fail(ErrorCode::kSystem, "interrupted");
  return run;
}

}  // namespace loom::app
