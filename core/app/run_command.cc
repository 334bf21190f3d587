#include "app/run_command.h"

#include <fcntl.h>
#include <loom/utf8.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "app/execution.h"
#include "app/person_run.h"
#include "app/report_target.h"
#include "app/scratch_removals.h"
#include "host/byte_sink.h"
#include "host/signal_queue.h"
#include "report/human_report.h"

namespace loom::app {
namespace {

constexpr std::size_t kMaxWaiting = 1u << 20;  // bytes on their way, in either direction
constexpr std::size_t kReadChunk = 65'536;
constexpr int kOutputLost = 1;  // the command succeeded, and what it printed did not arrive

// Connects one execution with this terminal: streams through, signals into cancels.
class Terminal {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Terminal>> open();
  [[nodiscard]] Admission<ExecResult> run(Session& session, PreparedRun run);
  // Why output was lost, when nobody chose to stop reading it; empty otherwise.
  [[nodiscard]] const std::string& lost_output() const noexcept { return lost_output_; }

 private:
  struct Output {
    host::ByteSink sink;
    Stream stream;
    bool broken = false;
  };
  Terminal(host::ByteSink out, host::ByteSink err, UniqueFd signals)
      : out_{std::move(out), Stream::kStdout},
        err_{std::move(err), Stream::kStderr},
        signals_(std::move(signals)) {}

  [[nodiscard]] Result<void> wait_for_scratch(Session& session);
  void watch_output(Output& output);
  void flush(Output& output);
  void forward_stdin();
  void offer(ByteView chunk, bool eof);
  void take_signal();
  [[nodiscard]] bool all_written() const;

  host::EventLoop loop_;
  host::ControlGroupRemovals removals_{loop_};
  Output out_;
  Output err_;
  UniqueFd signals_;
  std::unique_ptr<Execution> execution_;
  std::optional<ExecResult> result_;
  Bytes held_;  // a chunk of stdin the queue had no room for
  bool held_eof_ = false;
  bool asked_ = false;     // a stop signal came before
  bool given_up_ = false;  // one came after the command's end: what is unwritten stays so
  std::string lost_output_;
};

Result<std::unique_ptr<Terminal>> Terminal::open() {
  LOOM_TRY(host::ByteSink out, host::ByteSink::open(STDOUT_FILENO));
  LOOM_TRY(host::ByteSink err, host::ByteSink::open(STDERR_FILENO));
  LOOM_TRY(UniqueFd signals, host::queue_signals({SIGINT, SIGTERM, SIGHUP}));
  return std::unique_ptr<Terminal>(
      new Terminal(std::move(out), std::move(err), std::move(signals)));
}

Admission<ExecResult> Terminal::run(Session& session, PreparedRun prepared) {
  ExecutionEvents events{.on_output =
                             [this](Stream stream, ByteView data, std::uint64_t, bool) {
                               Output& output = stream == Stream::kStdout ? out_ : err_;
                               if (!output.broken) output.sink.push_or_write({&data, 1});
                               flush(output);
                             },
                         .on_stdin_room =
                             [this] {
                               const Bytes held = std::exchange(held_, {});
                               offer(held, held_eof_);
                             },
                         .on_exit = [this](ExecResult result) { result_ = std::move(result); }};
  LOOM_TRY(execution_, Execution::start(loop_, session, std::move(prepared), std::move(events)));
  watch_output(out_);
  watch_output(err_);
  loop_.watch(signals_.get(), POLLIN, [this](short) { take_signal(); });
  if (::isatty(STDIN_FILENO) == 1) {
    offer({}, true);
  } else {
    loop_.watch(STDIN_FILENO, POLLIN, [this](short) { forward_stdin(); });
  }
  while (!result_ || (!all_written() && !given_up_)) LOOM_TRY_VOID(loop_.run_once());
  if (auto group = execution_->take_group()) removals_.add(std::move(*group));
  while (!removals_.empty()) LOOM_TRY_VOID(loop_.run_once());
  LOOM_TRY_VOID(wait_for_scratch(session));
  execution_.reset();
  return std::move(*result_);
}

// The report is still to be written: it need not speak of what is gone by then.
Result<void> Terminal::wait_for_scratch(Session& session) {
  auto scratch = execution_->take_scratch();
  if (!scratch) return {};
  ScratchRemovals removals(loop_, session);
  removals.add(std::move(*scratch));
  while (!removals.joined()) {
    if (given_up_) return {};
    LOOM_TRY_VOID(loop_.run_once());
  }
  if (removals.left_any()) return {};
  std::erase_if(result_->enforcement,
                [](const std::string& entry) { return entry.starts_with("unheld:scratch="); });
  return {};
}

void Terminal::watch_output(Output& output) {
  if (output.sink.can_wait()) {
    loop_.watch(output.sink.poll_fd(), 0, [this, &output](short) { flush(output); });
  }
}

void Terminal::flush(Output& output) {
  if (output.broken) return;
  if (const auto flushed = output.sink.flush(); !flushed) {
    if (flushed.error().sys_errno != EPIPE) lost_output_ = flushed.error().message;
    output.broken = true;
    if (output.sink.can_wait()) loop_.forget(output.sink.poll_fd());
    execution_->close_output(output.stream);
    return;
  }
  if (output.sink.can_wait()) {
    const bool waits = output.sink.pending() > 0;
    loop_.set_events(output.sink.poll_fd(), waits ? short{POLLOUT} : short{0});
  }
  const std::size_t waiting =
      (out_.broken ? 0 : out_.sink.pending()) + (err_.broken ? 0 : err_.sink.pending());
  if (execution_) execution_->pause_output(waiting > kMaxWaiting);
}

bool Terminal::all_written() const {
  return (out_.broken || out_.sink.pending() == 0) && (err_.broken || err_.sink.pending() == 0);
}

void Terminal::forward_stdin() {
  std::array<std::byte, kReadChunk> buffer;
  const ssize_t got = ::read(STDIN_FILENO, buffer.data(), buffer.size());
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (got <= 0) {
    loop_.forget(STDIN_FILENO);
    offer({}, true);
    return;
  }
  offer(ByteView(buffer.data(), static_cast<std::size_t>(got)), false);
}

void Terminal::offer(ByteView chunk, bool eof) {
  switch (execution_->offer_stdin(chunk, eof)) {
    case host::StdinAnswer::kAccepted:
      if (!eof) loop_.set_events(STDIN_FILENO, POLLIN);
      return;
    case host::StdinAnswer::kWait:
      held_.assign(chunk.begin(), chunk.end());
      held_eof_ = eof;
      loop_.set_events(STDIN_FILENO, 0);
      return;
    case host::StdinAnswer::kAfterEof:
    case host::StdinAnswer::kEnded:
    case host::StdinAnswer::kWriteFailed:
      // The command does not read any more; what is left is not ours to consume.
      if (!eof) loop_.forget(STDIN_FILENO);
      return;
  }
}

void Terminal::take_signal() {
  if (!host::take_queued_signal(signals_.get())) return;
  // The command has ended, and whoever should read its output does not.
  if (result_) given_up_ = true;
  if (!execution_ || result_) return;
  // The first asks the command to stop, the second does not ask.
  if (asked_) {
    execution_->kill_now();
  } else {
    execution_->cancel("cancelled at the terminal");
  }
  asked_ = true;
}

void write_report(ReportForm form, const ReportTarget& report, const ExecResult& result,
                  const Denial* denial = nullptr) {
  if (form == ReportForm::kNone) return;
  const auto written = report.write(form == ReportForm::kJson ? render_json_report(result, denial)
                                                              : render_human_report(result));
  if (!written) std::fprintf(stderr, "loom-exec: %s\n", printable(written.error().message).c_str());
}

// What a shell would show: of a program that is not there 127, of one that cannot be run 126.
int refused_status(const std::optional<Denial>& denial) {
  if (denial && denial->reason == "not_found") return kNotFound;
  if (denial && denial->reason == "not_executable") return kNotExecutable;
  return kNotSetUp;
}

// Nothing ran. A program that asked for JSON gets the refusal in the same form as a report.
int refuse(const RunOptions& options, const ReportTarget& report, const Refusal& refusal) {
  const std::string& message = refusal.error.message;
  const std::string program = options.command.empty() ? "" : options.command.front();
  const std::optional<Denial> denial =
      refusal.denial ? refusal.denial : launch_denial(refusal.error, program);
  const std::string words =
      denial ? render_human_denial(*denial) : "loom-exec: " + printable(message) + "\n";
  std::fprintf(stderr, "%sloom-exec: the command was not run\n", words.c_str());
  const int status = refused_status(denial);
  if (options.report == ReportForm::kJson) {
    ExecResult nothing;
    nothing.code = status;
    nothing.outcome = {.outcome = status == kNotSetUp ? OutcomeClass::kSetup : OutcomeClass::kExec,
                       .detail = message,
                       .first_cause = "refused before the start",
                       .shell_status = status};
    write_report(options.report, report, nothing, denial ? &*denial : nullptr);
  }
  return status;
}

}  // namespace

int run_command(int argc, const char* const* argv, spdlog::logger& log) {
  ParsedOptions parsed = parse_run_options("run", argc, argv);
  if (parsed.exit_status) return *parsed.exit_status;
  const RunOptions& options = parsed.options;
  auto report = ReportTarget::open(options.report_file);
  if (!report) return refuse(options, ReportTarget(), report.error());
  auto decided = decide_for_person(options, Purpose::kRun, log);
  if (!decided) return refuse(options, *report, decided.error());
  auto terminal = Terminal::open();
  if (!terminal) return refuse(options, *report, terminal.error());
  const auto result = (*terminal)->run(*decided->session, std::move(decided->run));
  if (!result) return refuse(options, *report, result.error());
  write_report(options.report, *report, *result);
  const int status = result->outcome.shell_status;
  if ((*terminal)->lost_output().empty()) return status;
  std::fprintf(stderr, "loom-exec: %s\n", (*terminal)->lost_output().c_str());
  return status == 0 ? kOutputLost : status;
}

}  // namespace loom::app
