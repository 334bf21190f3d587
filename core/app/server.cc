#include "app/server.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "policy/decode_policy.h"

namespace loom::app {
namespace {

constexpr std::size_t kReadChunk = 65'536;
// Never readable on a pipe or a stream socket, so poll reports nothing but the other side's end.
constexpr short kHangUpOnly = POLLPRI | POLLRDHUP;
// Replies that a broker does not read. Far above kMaxPendingOutput, so that a cancel still gets
// through while only output waits.
constexpr std::size_t kMaxPendingReplies = 8u << 20;
constexpr std::string_view kPolicyFeature = "policy-v3";
constexpr std::string_view kPeerName = "exec-helper";

std::vector<std::string> hello_features(const Features& features) {
  std::vector<std::string> tags = features.tags;
  tags.emplace_back(kOutcomeFeature);
  tags.emplace_back(kPolicyFeature);
  tags.emplace_back(kDenialFeature);
  return tags;
}

// Why a chunk was not taken; null when there is nothing to say.
const char* stdin_refusal(host::StdinAnswer answer) {
  switch (answer) {
    case host::StdinAnswer::kAccepted:
    case host::StdinAnswer::kWait:
      return nullptr;
    case host::StdinAnswer::kAfterEof:
      return "stdin was closed by an earlier eof";
    case host::StdinAnswer::kEnded:
      return "the execution has ended";
    case host::StdinAnswer::kWriteFailed:
      return "an earlier write to stdin failed";
  }
  return nullptr;
}

}  // namespace

Server::Server(Session& session, Policy base_policy, int in, host::ByteSink out)
    : session_(session), base_policy_(std::move(base_policy)), in_(in), out_(std::move(out)) {}

Server::~Server() = default;

Result<std::unique_ptr<Server>> Server::open(Session& session, Policy base_policy, int in,
                                             int out) {
  LOOM_TRY(host::ByteSink sink, host::ByteSink::open(out));
  return std::unique_ptr<Server>(new Server(session, std::move(base_policy), in, std::move(sink)));
}

int Server::serve() {
  send(encode_hello_frame(1, {.proto = kProtocolNumber,
                              .peer = std::string(kPeerName),
                              .features = hello_features(session_.features())}));
  loop_.watch(in_, POLLIN, [this](short) { read_input(); });
  if (out_.can_wait()) loop_.watch(out_.poll_fd(), 0, [this](short) { flush(); });
  flush();
  // While the broker reads the hello. What fails here fails again, and by name, at the first start.
  static_cast<void>(session_.finish_probing().has_value());
  // Frames first: what is decided but not yet written still belongs to the broker.
  while (!closing_ || execution_ || !removals_.empty() || (out_.pending() > 0 && !output_broken_)) {
    if (!loop_.run_once()) return 1;
    finished_.reset();
  }
  return *closing_;
}

// ---- output -------------------------------------------------------------------------------------

void Server::send(Bytes frame) {
  if (output_broken_) return;
  out_.push(std::move(frame));
  flush();
}

void Server::send_staged(SplitFrame frame, std::size_t bytes) {
  out_.push(std::move(frame.head));
  out_.push_staged(bytes);
  out_.push(std::move(frame.tail));
  flush();
}

void Server::send_error(std::uint64_t id, WireError code, std::string_view message) {
  send(encode_error_frame(id, code, message));
}

void Server::flush() {
  if (output_broken_) return;
  if (!out_.flush()) {
    output_broken_ = true;
    if (out_.can_wait()) loop_.forget(out_.poll_fd());
    close(1, "the broker's end of stdout is gone");
    return;
  }
  if (out_.can_wait()) {
    loop_.set_events(out_.poll_fd(), out_.pending() > 0 ? short{POLLOUT} : short{0});
  }
  settle_backpressure();
  if (input_waits_ && !input_must_wait()) take_frames();
}

bool Server::input_must_wait() const {
  return held_stdin_.has_value() || out_.pending() > kMaxPendingReplies;
}

void Server::settle_backpressure() {
  if (!execution_) return;
  execution_->pause_output(out_.pending() > kMaxPendingOutput || out_.holds_staged());
}

// ---- input --------------------------------------------------------------------------------------

void Server::read_input() {
  // A broker that left while the command does not read its stdin: the frames behind the held chunk
  // would wait for as long as the command likes.
  if (input_must_wait()) return close(0, "the broker closed stdin");
  std::array<std::byte, kReadChunk> buffer;
  const ssize_t got = ::read(in_, buffer.data(), buffer.size());
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (got <= 0) {
    loop_.forget(in_);
    input_open_ = false;
    if (reader_.at_boundary()) {
      close(0, "the broker closed stdin");
    } else {
      send_error(0, WireError::kMalformedFrame, "stdin ended inside a frame");
      close(1, "stdin ended inside a frame");
    }
    return;
  }
  reader_.feed(ByteView(buffer.data(), static_cast<std::size_t>(got)));
  take_frames();
}

void Server::take_frames() {
  while (!closing_ && !input_must_wait()) {
    auto payload = reader_.next();
    if (payload && !*payload) break;
    auto frame = payload ? decode_frame(std::move(**payload))
                         : Result<Frame>(tl::unexpected(std::move(payload).error()));
    if (!frame) {
      send_error(0, WireError::kMalformedFrame, frame.error().message);
      close(1, "malformed frame");
      return;
    }
    take_frame(std::move(*frame));
  }
  // What keeps the reader waiting keeps what is buffered behind it bounded.
  input_waits_ = input_must_wait();
  if (input_open_ && !closing_) loop_.set_events(in_, input_waits_ ? kHangUpOnly : short{POLLIN});
}

void Server::take_frame(Frame frame) {
  if (frame.kind == "hello") return take_hello(frame);
  if (!greeted_) {
    send_error(frame.id, WireError::kProtoMismatch, "a hello must come first");
    return close(1, "frame before hello");
  }
  if (frame.kind == "exec_start") return take_exec_start(frame);
  if (frame.kind == "exec_stdin") return take_exec_stdin(std::move(frame));
  if (frame.kind == "shutdown") return take_shutdown(frame);
  if (frame.kind == "heartbeat") return send(encode_heartbeat_frame(frame.id));
  if (frame.kind == "cancel") {
    if (execution_) execution_->cancel("cancelled by the broker");
    return;
  }
  send_error(frame.id, WireError::kUnknownKind, frame.kind);
}

void Server::take_hello(const Frame& frame) {
  const auto hello = decode_hello(frame.body);
  if (!hello) {
    send_error(frame.id, WireError::kMalformedFrame, hello.error().message);
    return close(1, "malformed hello");
  }
  if (hello->proto != kProtocolNumber) {
    send_error(frame.id, WireError::kProtoMismatch,
               "protocol " + std::to_string(hello->proto) + " offered, " +
                   std::to_string(kProtocolNumber) + " spoken here");
    return close(1, "protocol mismatch");
  }
  if (greeted_) return;
  greeted_ = true;
  const auto lists = [&hello](std::string_view feature) {
    return std::find(hello->features.begin(), hello->features.end(), feature) !=
           hello->features.end();
  };
  outcome_wanted_ = lists(kOutcomeFeature);
  denial_wanted_ = lists(kDenialFeature);
}

void Server::take_exec_start(const Frame& frame) {
  if (execution_) return send_error(frame.id, WireError::kBusy, "an execution is running");
  auto start_body = decode_exec_start(frame.body);
  if (!start_body) {
    return send_error(frame.id, WireError::kMalformedFrame, start_body.error().message);
  }
  if (start_body->argv.empty()) {
    return send_error(frame.id, WireError::kMalformedFrame, "exec_start: argv is empty");
  }
  if (start_body->token.empty()) {
    return send_error(frame.id, WireError::kMalformedFrame, "exec_start: token is missing");
  }
  RunRequest request{.argv = std::move(start_body->argv),
                     .environment = std::move(start_body->env),
                     .cwd = std::move(start_body->cwd),
                     .policy = base_policy_,
                     .exec = exec_in_force(base_policy_, nullptr),
                     .id = frame.id};
  if (start_body->policy != nullptr) {
    auto policy = decode_policy(*start_body->policy);
    if (!policy) return send_error(frame.id, WireError::kBadPolicy, policy.error().message);
    request.exec = exec_in_force(base_policy_, &*policy);
    request.layer = 1;
    request.policy = std::move(*policy);
  }
  const std::string program = request.argv.front();
  if (const auto started = start(frame.id, std::move(request)); !started) {
    refuse_start(frame.id, started.error(), program);
  }
}

void Server::refuse_start(std::uint64_t id, const Refusal& refusal, std::string_view program) {
  const std::optional<Denial> denial =
      refusal.denial ? refusal.denial : launch_denial(refusal.error, program);
  if (denial) session_.log(LogLevel::kWarning, "denial: " + denial_json(*denial));
  send(encode_error_frame(id, WireError::kSpawnFailed, refusal.error.message,
                          denial && denial_wanted_ ? &*denial : nullptr));
}

Admission<void> Server::start(std::uint64_t id, RunRequest request) {
  LOOM_TRY(PreparedRun run, prepare_run(session_, std::move(request)));
  ExecutionEvents events{
      .on_output =
          [this, id](Stream stream, ByteView data, std::uint64_t total, bool truncated) {
            send(encode_exec_out_frame(id, stream, data, total, truncated));
          },
      .stage = [this](int pipe, std::size_t most) { return out_.stage(pipe, most); },
      .on_staged =
          [this, id](Stream stream, std::size_t bytes, std::uint64_t total) {
            send_staged(split_exec_out_frame(id, stream, bytes, total), bytes);
          },
      .on_stdin_room = [this] { retry_held_stdin(); },
      .on_exit = [this, id](const ExecResult& result) { execution_ended(id, result); }};
  LOOM_TRY(execution_, Execution::start(loop_, session_, std::move(run), std::move(events)));
  ever_started_ = true;
  return {};
}

void Server::execution_ended(std::uint64_t id, const ExecResult& result) {
  finished_ = std::move(execution_);
  send(encode_exec_exit_frame(id, result, outcome_wanted_));
  if (auto group = finished_->take_group()) removals_.add(std::move(*group));
  retry_held_stdin();
}

void Server::take_exec_stdin(Frame frame) {
  if (!ever_started_) {
    return send_error(frame.id, WireError::kNoExec, "no execution was ever started");
  }
  if (answer_stdin(frame) == host::StdinAnswer::kWait) held_stdin_ = std::move(frame);
}

host::StdinAnswer Server::answer_stdin(const Frame& frame) {
  const auto chunk = decode_exec_stdin(frame.body);
  if (!chunk) {
    send_error(frame.id, WireError::kMalformedFrame, chunk.error().message);
    return host::StdinAnswer::kAccepted;
  }
  const host::StdinAnswer answer =
      execution_ ? execution_->offer_stdin(chunk->data, chunk->eof) : host::StdinAnswer::kEnded;
  if (const char* refusal = stdin_refusal(answer)) {
    send_error(frame.id, WireError::kNoExec, refusal);
  }
  return answer;
}

void Server::retry_held_stdin() {
  if (!held_stdin_ || closing_) return;
  Frame frame = std::move(*held_stdin_);
  held_stdin_.reset();
  take_exec_stdin(std::move(frame));
  if (!held_stdin_) take_frames();
}

void Server::take_shutdown(const Frame& frame) {
  if (const auto body = decode_shutdown(frame.body); !body) {
    send_error(frame.id, WireError::kMalformedFrame, body.error().message);
    return close(1, "malformed shutdown");
  }
  close(0, "shut down by the broker");
}

// Dispatch stops here; the loop goes on until the running execution is joined.
void Server::close(int status, const char* cause) {
  if (closing_) return;
  closing_ = status;
  held_stdin_.reset();
  if (input_open_) loop_.forget(in_);
  input_open_ = false;
  if (execution_) execution_->cancel(cause);
}

}  // namespace loom::app
