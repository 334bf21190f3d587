#pragma once

#include <loom/bytes.h>
#include <loom/policy.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/run_request.h"
#include "host/stdin_answer.h"
#include "protocol/frame_reader.h"
#include "protocol/messages.h"
#include "report/denial.h"
#include "report/exec_result.h"

namespace loom::app {

// Output frames waiting for the broker; above this nothing more is read from a command.
inline constexpr std::size_t kMaxPendingOutput = 1u << 20;
// Replies that a broker does not read. Far above kMaxPendingOutput, so that a cancel still gets
// through while only output waits.
inline constexpr std::size_t kMaxPendingReplies = 8u << 20;

// What a conversation needs done; each platform's server is one. Calls may come while the server
// is inside one of the conversation's own functions; none of them may destroy the conversation.
class ConversationActions {
 public:
  ConversationActions() = default;
  ConversationActions(const ConversationActions&) = delete;
  ConversationActions& operator=(const ConversationActions&) = delete;
  virtual ~ConversationActions() = default;

  // One whole frame for the broker, behind everything sent before.
  virtual void send(Bytes frame) = 0;
  // Whether more than kMaxPendingReplies wait for the broker.
  [[nodiscard]] virtual bool output_is_full() const = 0;
  // true: feed what the broker sends. false: only its hang-up is of interest for now.
  virtual void read_input(bool wanted) = 0;
  // Nothing more will be taken from the broker.
  virtual void forget_input() = 0;

  // Starts an execution; from then on is_running, until the server calls send_exit.
  [[nodiscard]] virtual Admission<void> start(RunRequest request) = 0;
  [[nodiscard]] virtual bool is_running() const = 0;
  // Of the running execution.
  [[nodiscard]] virtual host::StdinAnswer offer_stdin(ByteView chunk, bool eof) = 0;
  virtual void cancel(const std::string& cause) = 0;

  virtual void log_denial(const std::string& text) = 0;
};

// The helper's side of the wire (docs/wire.md): which frame is answered how, and when it is over.
// No descriptors, no clocks, no processes: what acts is the server, and every platform's server has
// this one brain.
class Conversation {
 public:
  // `actions` outlives the conversation.
  Conversation(ConversationActions& actions, Policy base_policy)
      : actions_(actions), base_policy_(std::move(base_policy)) {}
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  // The helper's hello. `tags`: the features of the backend.
  void greet(const std::vector<std::string>& tags);

  // Bytes from the broker.
  void take_input(ByteView bytes);
  // The end of the broker's bytes.
  void input_ended();
  // The broker hung up while its input waits: what is buffered would wait for as long as a command
  // likes, so that it counts as the end.
  void broker_left();
  // Nobody reads what is sent any more.
  void output_broke();
  // Whether a full output, or a chunk of stdin that found no room, keeps the broker's bytes
  // waiting.
  [[nodiscard]] bool input_must_wait() const;
  // After some output was written: goes on with what waited for that.
  void output_moved();
  // After StdinAnswer::kWait there may be room, or nobody any more who could take it.
  void stdin_has_room();
  // The execution of `id` is over, and no longer running: sends its exit frame. Call stdin_has_room
  // next; a chunk of stdin may wait, and frames behind it.
  void send_exit(std::uint64_t id, const ExecResult& result);

  // The exit status, once decided. What is decided and not yet written still belongs to the broker,
  // and a running execution is being stopped and is to be waited for.
  [[nodiscard]] std::optional<int> closing() const noexcept { return closing_; }

 private:
  void send_error(std::uint64_t id, WireError code, std::string_view message);
  void take_frames();
  void take_frame(Frame frame);
  void take_hello(const Frame& frame);
  void take_exec_start(const Frame& frame);
  void take_exec_stdin(Frame frame);
  [[nodiscard]] host::StdinAnswer answer_stdin(const Frame& frame);
  void take_shutdown(const Frame& frame);
  void refuse_start(std::uint64_t id, const Refusal& refusal, std::string_view program);
  void close(int status, const char* cause);

  ConversationActions& actions_;
  Policy base_policy_;
  FrameReader reader_;
  bool greeted_ = false;         // the broker's hello was accepted
  bool outcome_wanted_ = false;  // both hellos list exec-outcome-v1
  bool denial_wanted_ = false;   // both hellos list denial-v1
  bool input_open_ = true;
  bool input_waits_ = false;  // frames were left in reader_ because something must be read first
  bool ever_started_ = false;
  std::optional<Frame> held_stdin_;  // a chunk the full queue did not take; reading waits behind it
  std::optional<int> closing_;       // exit status, once decided
};

}  // namespace loom::app
