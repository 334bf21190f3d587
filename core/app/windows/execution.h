#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/windows/prepare_run.h"
#include "app/windows/session.h"
#include "cancel/cancel_state.h"
#include "host/output_cap.h"
#include "host/windows/pipe_reader.h"
#include "host/windows/stdin_feed.h"
#include "protocol/messages.h"
#include "report/exec_result.h"

namespace loom::windows {

inline constexpr Millis kDrainLimit{500};  // docs/wire.md 6.3
// There is no signal that every program on Windows understands: a console event needs a console in
// common, and a program without one hears nothing. So the soft rung ends the tree at once, and
// there is no grace to wait for.
inline constexpr Millis kGrace{0};

// What an execution tells its owner, on the deciding thread; on_exit is the last call and comes
// once, and not from within start. None of them may destroy the execution: it is still on the
// stack.
struct ExecutionEvents {
  std::function<void(Stream stream, ByteView data, std::uint64_t total, bool truncated)> on_output;
  std::function<void()> on_stdin_moved;  // after StdinAnswer::kWait: offer again
  std::function<void(ExecResult result)> on_exit;
};

// One run from its start to its result. Destroying a running execution ends its tree.
class Execution {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Execution>> start(EventQueue& queue, Session& session,
                                                                PreparedRun run,
                                                                ExecutionEvents events);
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;
  ~Execution();

  [[nodiscard]] host::StdinAnswer offer_stdin(ByteView chunk, bool eof);
  void cancel(const std::string& cause);
  // While paused nothing is read from the command's output; it blocks, and memory stays bounded.
  void pause_output(bool paused);

 private:
  struct Pump {
    Stream stream;
    host::OutputCap cap;
    std::optional<PipeReader> reader{};
  };
  Execution(EventQueue& queue, Session& session, PreparedRun run, ExecutionEvents events);
  [[nodiscard]] Result<void> launch();
  void wait_for_end();
  void arm_wall_clock();
  void pump(Pump& pump, ByteView bytes);
  void climb();
  void note_cause(const std::string& cause);
  void child_ended();
  void finish_when_drained();
  void drain_ran_out();
  void finish();
  [[nodiscard]] ExecResult make_result();

  EventQueue& queue_;
  Session& session_;
  PreparedRun run_;
  ExecutionEvents events_;
  CancelState cancel_{kGrace};
  Instant started_{};
  StartedRun child_;
  Pump out_;
  Pump err_;
  std::optional<StdinFeed> stdin_;
  bool stdin_waited_ = false;
  bool ended_ = false;
  std::uint32_t exit_code_ = 0;
  bool lost_end_ = false;
  std::string first_cause_;
  std::optional<EventQueue::TimerId> wall_timer_;
  std::optional<EventQueue::TimerId> drain_timer_;
  std::optional<EventQueue::TimerId> count_timer_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  std::optional<BlockingThread> waiter_;
};

}  // namespace loom::windows
