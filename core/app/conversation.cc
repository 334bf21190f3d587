#include "app/conversation.h"

#include <algorithm>
#include <utility>

#include "policy/decode_policy.h"

namespace loom::app {
namespace {

constexpr std::string_view kPolicyFeature = "policy-v3";
constexpr std::string_view kPeerName = "exec-helper";

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

void Conversation::greet(const std::vector<std::string>& tags) {
  std::vector<std::string> features = tags;
  features.emplace_back(kOutcomeFeature);
  features.emplace_back(kPolicyFeature);
  features.emplace_back(kDenialFeature);
  actions_.send(encode_hello_frame(
      1,
      {.proto = kProtocolNumber, .peer = std::string(kPeerName), .features = std::move(features)}));
}

void Conversation::send_error(std::uint64_t id, WireError code, std::string_view message) {
  actions_.send(encode_error_frame(id, code, message));
}

// ---- what the server tells ----------------------------------------------------------------------

void Conversation::take_input(ByteView bytes) {
  reader_.feed(bytes);
  take_frames();
}

void Conversation::input_ended() {
  if (!input_open_) return;
  actions_.forget_input();
  input_open_ = false;
  if (reader_.at_boundary()) return close(0, "the broker closed stdin");
  send_error(0, WireError::kMalformedFrame, "stdin ended inside a frame");
  close(1, "stdin ended inside a frame");
}

void Conversation::broker_left() { close(0, "the broker closed stdin"); }

void Conversation::output_broke() { close(1, "the broker's end of stdout is gone"); }

bool Conversation::input_must_wait() const {
  return held_stdin_.has_value() || actions_.output_is_full();
}

void Conversation::output_moved() {
  if (input_waits_ && !input_must_wait()) take_frames();
}

void Conversation::stdin_has_room() {
  if (!held_stdin_ || closing_) return;
  Frame frame = std::move(*held_stdin_);
  held_stdin_.reset();
  take_exec_stdin(std::move(frame));
  if (!held_stdin_) take_frames();
}

void Conversation::send_exit(std::uint64_t id, const ExecResult& result) {
  actions_.send(encode_exec_exit_frame(id, result, outcome_wanted_));
}

// ---- frames -------------------------------------------------------------------------------------

void Conversation::take_frames() {
  // A reply that is written at once moves the output. The loop below goes on by itself: taken from
  // within it, each frame would wait for the next one's end.
  input_waits_ = false;
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
  if (input_open_ && !closing_) actions_.read_input(!input_waits_);
}

void Conversation::take_frame(Frame frame) {
  if (frame.kind == "hello") return take_hello(frame);
  if (!greeted_) {
    send_error(frame.id, WireError::kProtoMismatch, "a hello must come first");
    return close(1, "frame before hello");
  }
  if (frame.kind == "exec_start") return take_exec_start(frame);
  if (frame.kind == "exec_stdin") return take_exec_stdin(std::move(frame));
  if (frame.kind == "shutdown") return take_shutdown(frame);
  if (frame.kind == "heartbeat") return actions_.send(encode_heartbeat_frame(frame.id));
  if (frame.kind == "cancel") {
    if (actions_.is_running()) actions_.cancel("cancelled by the broker");
    return;
  }
  send_error(frame.id, WireError::kUnknownKind, frame.kind);
}

void Conversation::take_hello(const Frame& frame) {
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

void Conversation::take_exec_start(const Frame& frame) {
  if (actions_.is_running()) {
    return send_error(frame.id, WireError::kBusy, "an execution is running");
  }
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
  const auto started = actions_.start(std::move(request));
  if (!started) return refuse_start(frame.id, started.error(), program);
  ever_started_ = true;
}

void Conversation::refuse_start(std::uint64_t id, const Refusal& refusal,
                                std::string_view program) {
  const std::optional<Denial> denial =
      refusal.denial ? refusal.denial : launch_denial(refusal.error, program);
  if (denial) actions_.log_denial("denial: " + denial_json(*denial));
  actions_.send(encode_error_frame(id, WireError::kSpawnFailed, refusal.error.message,
                                   denial && denial_wanted_ ? &*denial : nullptr));
}

void Conversation::take_exec_stdin(Frame frame) {
  if (!ever_started_) {
    return send_error(frame.id, WireError::kNoExec, "no execution was ever started");
  }
  if (answer_stdin(frame) == host::StdinAnswer::kWait) held_stdin_ = std::move(frame);
}

host::StdinAnswer Conversation::answer_stdin(const Frame& frame) {
  const auto chunk = decode_exec_stdin(frame.body);
  if (!chunk) {
    send_error(frame.id, WireError::kMalformedFrame, chunk.error().message);
    return host::StdinAnswer::kAccepted;
  }
  const host::StdinAnswer answer = actions_.is_running()
                                       ? actions_.offer_stdin(chunk->data, chunk->eof)
                                       : host::StdinAnswer::kEnded;
  if (const char* refusal = stdin_refusal(answer)) {
    send_error(frame.id, WireError::kNoExec, refusal);
  }
  return answer;
}

void Conversation::take_shutdown(const Frame& frame) {
  if (const auto body = decode_shutdown(frame.body); !body) {
    send_error(frame.id, WireError::kMalformedFrame, body.error().message);
    return close(1, "malformed shutdown");
  }
  close(0, "shut down by the broker");
}

// Dispatch stops here; the server goes on until the running execution is joined.
void Conversation::close(int status, const char* cause) {
  if (closing_) return;
  closing_ = status;
  held_stdin_.reset();
  if (input_open_) actions_.forget_input();
  input_open_ = false;
  if (actions_.is_running()) actions_.cancel(cause);
}

}  // namespace loom::app
