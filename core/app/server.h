#pragma once

#include <loom/policy.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "app/execution.h"
#include "app/session.h"
#include "host/byte_sink.h"
#include "host/control_group.h"
#include "host/event_loop.h"
#include "protocol/frame_reader.h"
#include "protocol/messages.h"

namespace loom::app {

// Output frames waiting for the broker; above this nothing more is read from a command.
inline constexpr std::size_t kMaxPendingOutput = 1u << 20;

// Serves one broker on frames (docs/wire.md). `in` and `out` are borrowed.
class Server {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Server>> open(Session& session, Policy base_policy,
                                                            int in, int out);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  // Until the broker is done or broke the protocol: the process's exit status. The running
  // execution has been joined and its exit frame written.
  [[nodiscard]] int serve();

 private:
  Server(Session& session, Policy base_policy, int in, host::ByteSink out);

  void send(Bytes frame);
  // A frame whose data was staged in out_.
  void send_staged(SplitFrame frame, std::size_t bytes);
  void send_error(std::uint64_t id, WireError code, std::string_view message);
  void flush();
  void settle_backpressure();
  [[nodiscard]] bool input_must_wait() const;

  void read_input();
  void take_frames();
  void take_frame(Frame frame);
  void take_hello(const Frame& frame);
  void take_exec_start(const Frame& frame);
  void take_exec_stdin(Frame frame);
  host::StdinAnswer answer_stdin(const Frame& frame);
  void take_shutdown(const Frame& frame);

  [[nodiscard]] Admission<void> start(std::uint64_t id, RunRequest request);
  void refuse_start(std::uint64_t id, const Refusal& refusal, std::string_view program);
  void execution_ended(std::uint64_t id, const ExecResult& result);
  void retry_held_stdin();
  void close(int status, const char* cause);

  Session& session_;
  Policy base_policy_;
  int in_;
  host::EventLoop loop_;
  host::ControlGroupRemovals removals_{loop_};
  host::ByteSink out_;
  FrameReader reader_;
  bool greeted_ = false;         // the broker's hello was accepted
  bool outcome_wanted_ = false;  // both hellos list exec-outcome-v1
  bool denial_wanted_ = false;   // both hellos list denial-v1
  bool input_open_ = true;
  bool input_waits_ = false;  // frames were left in reader_ because something must be read first
  bool output_broken_ = false;
  bool ever_started_ = false;
  std::unique_ptr<Execution> execution_;
  std::unique_ptr<Execution> finished_;  // kept until its handlers have returned
  std::optional<Frame> held_stdin_;  // a chunk the full queue did not take; reading waits behind it
  std::optional<int> closing_;       // exit status, once decided
};

}  // namespace loom::app
