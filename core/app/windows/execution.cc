#include "app/windows/execution.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "host/windows/pipe.h"
#include "report/conclude.h"
#include "report/describe_outcome.h"

namespace loom::windows {
namespace {

constexpr Millis kCountPause{5};
constexpr int kRefused = 126;  // what stage 2 would exit with (docs/wire.md 5.5)
// Exit codes with the top bit are no program's own: an exception ended the process. The wire's code
// is a small number.
constexpr std::uint32_t kCrashBit = 0x8000'0000u;
constexpr int kCrashed = 255;

std::string hexadecimal(std::uint32_t number) {
  std::array<char, 16> text{};
  const int size = std::snprintf(text.data(), text.size(), "0x%08X", static_cast<unsigned>(number));
  return {text.data(), static_cast<std::size_t>(size)};
}

}  // namespace

Execution::Execution(EventQueue& queue, Session& session, PreparedRun run, ExecutionEvents events)
    : queue_(queue),
      session_(session),
      run_(std::move(run)),
      events_(std::move(events)),
      out_{Stream::kStdout, host::OutputCap(run_.policy.limits.output_bytes)},
      err_{Stream::kStderr, host::OutputCap(run_.policy.limits.output_bytes)} {}

Result<std::unique_ptr<Execution>> Execution::start(EventQueue& queue, Session& session,
                                                    PreparedRun run, ExecutionEvents events) {
  std::unique_ptr<Execution> execution(
      new Execution(queue, session, std::move(run), std::move(events)));
  LOOM_TRY_VOID(execution->launch());
  return execution;
}

Result<void> Execution::launch() {
  LOOM_TRY(PipeEnds in, make_pipe());
  LOOM_TRY(PipeEnds out, make_pipe());
  LOOM_TRY(PipeEnds err, make_pipe());
  started_ = std::chrono::steady_clock::now();
  LOOM_TRY(child_,
           session_.start(run_.launch,
                          {.in = in.read.get(), .out = out.write.get(), .err = err.write.get()},
                          run_.search));
  // The command's own ends go here, so that ours end when the command closes them.
  in.read.reset();
  out.write.reset();
  err.write.reset();
  stdin_.emplace(queue_, std::move(in.write), [this] {
    if (std::exchange(stdin_waited_, false)) events_.on_stdin_moved();
  });
  out_.reader.emplace(queue_, std::move(out.read), kMaxOutputChunk,
                      [this](ByteView bytes) { pump(out_, bytes); });
  err_.reader.emplace(queue_, std::move(err.read), kMaxOutputChunk,
                      [this](ByteView bytes) { pump(err_, bytes); });
  wait_for_end();
  arm_wall_clock();
  return {};
}

void Execution::wait_for_end() {
  const auto tell = [this, alive = alive_] {
    queue_.post([this, alive] {
      if (*alive) child_ended();
    });
  };
  if (!child_.process) return tell();
  // The end comes as soon as the job is ended, so that this thread never needs a cancel.
  waiter_.emplace([tell, process = child_.process->process()] {
    ::WaitForSingleObject(process, INFINITE);
    tell();
  });
}

void Execution::arm_wall_clock() {
  if (!run_.policy.limits.wall_s) return;
  // Far enough for any use, and safely within the clock's range.
  constexpr std::uint64_t kLongestWall = 100ull * 365 * 24 * 3600;
  const auto wall = std::chrono::seconds(std::min(*run_.policy.limits.wall_s, kLongestWall));
  wall_timer_ = queue_.at(std::chrono::steady_clock::now() + wall, [this] {
    wall_timer_.reset();
    note_cause("wall_s ran out");
    cancel_.expire(std::chrono::steady_clock::now());
    climb();
  });
}

Execution::~Execution() {
  *alive_ = false;
  for (const auto& timer : {wall_timer_, drain_timer_, count_timer_}) {
    if (timer) queue_.cancel(*timer);
  }
  if (child_.process) child_.process->end_tree();
}

// ---- output and stdin ---------------------------------------------------------------------------

void Execution::pump(Pump& pump, ByteView bytes) {
  if (bytes.empty()) return finish_when_drained();
  const auto verdict = pump.cap.take(bytes.size());
  if (!verdict.forward) return;
  events_.on_output(pump.stream, bytes.first(verdict.bytes), pump.cap.forwarded(),
                    verdict.truncated);
}

void Execution::pause_output(bool paused) {
  // Once the command has ended its pipes hold little, and the drain has a clock of its own.
  for (Pump* pump : {&out_, &err_}) pump->reader->want(!paused || ended_);
}

host::StdinAnswer Execution::offer_stdin(ByteView chunk, bool eof) {
  const host::StdinAnswer answer = stdin_->offer(chunk, eof);
  stdin_waited_ = answer == host::StdinAnswer::kWait;
  return answer;
}

// ---- stopping -----------------------------------------------------------------------------------

void Execution::note_cause(const std::string& cause) {
  if (first_cause_.empty()) first_cause_ = cause;
}

void Execution::cancel(const std::string& cause) {
  if (ended_) return;
  note_cause(cause);
  cancel_.request(std::chrono::steady_clock::now());
  climb();
}

void Execution::climb() {
  while (cancel_.due(std::chrono::steady_clock::now())) {
    if (child_.process) child_.process->end_tree();
  }
}

// ---- settling -----------------------------------------------------------------------------------

void Execution::child_ended() {
  ended_ = true;
  waiter_.reset();
  cancel_.end();
  if (wall_timer_) queue_.cancel(*wall_timer_);
  wall_timer_.reset();
  if (child_.process) {
    child_.process->end_tree();
    const auto code = child_.process->exit_code();
    lost_end_ = !code;
    if (code) exit_code_ = *code;
    if (!code) note_cause(code.error().message);
  }
  stdin_->abandon();
  pause_output(false);
  drain_timer_ = queue_.at(std::chrono::steady_clock::now() + kDrainLimit, [this] {
    drain_timer_.reset();
    drain_ran_out();
  });
  finish_when_drained();
}

// Everything was read, and the last process of the tree is gone.
void Execution::finish_when_drained() {
  if (!ended_ || !out_.reader->ended() || !err_.reader->ended() || count_timer_) return;
  if (!child_.process || child_.process->count() == 0 || !drain_timer_) return finish();
  count_timer_ = queue_.at(std::chrono::steady_clock::now() + kCountPause, [this] {
    count_timer_.reset();
    finish_when_drained();
  });
}

// Whoever still holds the other end is out of the job's reach.
void Execution::drain_ran_out() {
  out_.reader->stop();
  err_.reader->stop();
  if (count_timer_) queue_.cancel(*count_timer_);
  count_timer_.reset();
  finish_when_drained();
}

void Execution::finish() {
  if (drain_timer_) queue_.cancel(*drain_timer_);
  drain_timer_.reset();
  session_.backend().finish();
  events_.on_exit(make_result());
}

ExecResult Execution::make_result() {
  const bool started = child_.process.has_value();
  const bool crashed = (exit_code_ & kCrashBit) != 0;
  OutcomeFacts facts;
  facts.code = crashed ? kCrashed : static_cast<int>(exit_code_);
  if (!started) facts.code = kRefused;
  if (lost_end_) facts.code = 127;
  facts.lost_end = lost_end_;
  facts.cancelled = cancel_.cancelled();
  facts.timed_out = cancel_.timed_out();
  facts.first_cause = first_cause_;
  if (child_.no_directory) {
    facts.failure = ControlMessage{.kind = ControlKind::kFailed,
                                   .step = Stage2Step::kDirectory,
                                   .error = ENOENT,
                                   .detail = run_.launch.cwd};
  } else if (!started) {
    facts.host_exec_error = child_.exec_error;
  }
  ExecResult result;
  result.code = facts.code;
  result.stdout_bytes = out_.cap.forwarded();
  result.stderr_bytes = err_.cap.forwarded();
  result.stdout_truncated = out_.cap.truncated();
  result.stderr_truncated = err_.cap.truncated();
  result.enforcement = conclude(run_.audit, {});
  result.degraded = session_.features().degraded;
  result.timed_out = cancel_.timed_out();
  result.cancelled = cancel_.cancelled();
  result.outcome = describe_outcome(facts);
  result.wall = std::chrono::duration_cast<Millis>(std::chrono::steady_clock::now() - started_);
  if (crashed) result.outcome.detail += " (ended by exception " + hexadecimal(exit_code_) + ")";
  return result;
}

}  // namespace loom::windows
