#include "app/windows/server.h"

#include <utility>

#include "host/windows/pipe.h"

namespace loom::windows {
namespace {

constexpr std::size_t kReadChunk = 65'536;
// Nothing on Windows tells of a hang-up while nobody reads.
constexpr std::chrono::milliseconds kAskPause{100};

}  // namespace

Server::Server(Session& session, Policy base_policy, UniqueHandle in, UniqueHandle out)
    : session_(session),
      conversation_(*this, std::move(base_policy)),
      in_(std::move(in)),
      out_(queue_, std::move(out), [this] { output_moved(); }) {}

Server::~Server() = default;

Result<std::unique_ptr<Server>> Server::open(Session& session, Policy base_policy, HANDLE in,
                                             HANDLE out) {
  LOOM_TRY(UniqueHandle own_in, duplicate(in, "standard input"));
  LOOM_TRY(UniqueHandle own_out, duplicate(out, "standard output"));
  return std::unique_ptr<Server>(
      new Server(session, std::move(base_policy), std::move(own_in), std::move(own_out)));
}

int Server::serve() {
  conversation_.greet(session_.features().tags);
  input_.emplace(queue_, std::move(in_), kReadChunk, [this](ByteView bytes) { input_came(bytes); });
  // Frames first: what is decided but not yet written still belongs to the broker.
  while (!conversation_.closing() || execution_ || (out_.pending() > 0 && !out_.broken())) {
    queue_.run_once();
    finished_.reset();
  }
  return *conversation_.closing();
}

// ---- output -------------------------------------------------------------------------------------

void Server::send(Bytes frame) {
  out_.push(std::move(frame));
  settle_backpressure();
}

void Server::output_moved() {
  if (out_.broken()) return conversation_.output_broke();
  settle_backpressure();
  conversation_.output_moved();
}

bool Server::output_is_full() const { return out_.pending() > app::kMaxPendingReplies; }

void Server::settle_backpressure() {
  if (execution_) execution_->pause_output(out_.pending() > app::kMaxPendingOutput);
}

// ---- input --------------------------------------------------------------------------------------

void Server::input_came(ByteView bytes) {
  if (conversation_.closing()) return;
  if (bytes.empty()) return conversation_.input_ended();
  conversation_.take_input(bytes);
}

void Server::read_input(bool wanted) {
  input_->want(wanted);
  if (!wanted && !hang_up_timer_) look_for_hang_up();
}

// Sees it once the pipe is empty. What lies unread in the pipe of a broker that is gone waits for
// the command, or for its wall clock.
void Server::look_for_hang_up() {
  hang_up_timer_ = queue_.at(std::chrono::steady_clock::now() + kAskPause, [this] {
    hang_up_timer_.reset();
    if (conversation_.closing() || !conversation_.input_must_wait()) return;
    if (input_->other_side_gone()) return conversation_.broker_left();
    look_for_hang_up();
  });
}

// The thread may block in its read for good; it ends with the process.
void Server::forget_input() {
  input_->want(false);
  if (hang_up_timer_) queue_.cancel(*hang_up_timer_);
  hang_up_timer_.reset();
}

// ---- the execution ------------------------------------------------------------------------------

Admission<void> Server::start(app::RunRequest request) {
  const std::uint64_t id = request.id;
  LOOM_TRY(PreparedRun run, prepare_run(session_, std::move(request)));
  ExecutionEvents events{
      .on_output =
          [this, id](Stream stream, ByteView data, std::uint64_t total, bool truncated) {
            send(encode_exec_out_frame(id, stream, data, total, truncated));
          },
      .on_stdin_moved = [this] { conversation_.stdin_has_room(); },
      .on_exit = [this, id](const ExecResult& result) { execution_ended(id, result); }};
  LOOM_TRY(execution_, Execution::start(queue_, session_, std::move(run), std::move(events)));
  return {};
}

void Server::execution_ended(std::uint64_t id, const ExecResult& result) {
  finished_ = std::move(execution_);
  conversation_.send_exit(id, result);
  conversation_.stdin_has_room();
}

host::StdinAnswer Server::offer_stdin(ByteView chunk, bool eof) {
  return execution_->offer_stdin(chunk, eof);
}

void Server::cancel(const std::string& cause) { execution_->cancel(cause); }

void Server::log_denial(const std::string& text) { session_.log(LogLevel::kWarning, text); }

}  // namespace loom::windows
