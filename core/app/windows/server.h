#pragma once

#include <loom/policy.h>

#include <memory>
#include <optional>
#include <string>

#include "app/conversation.h"
#include "app/windows/execution.h"
#include "app/windows/session.h"
#include "host/windows/pipe_reader.h"
#include "host/windows/pipe_writer.h"

namespace loom::windows {

// Serves one broker on frames: the pipes, the threads and the execution under the conversation,
// which is the same on every platform.
class Server final : private app::ConversationActions {
 public:
  // `in` and `out` are borrowed; nobody else reads or writes them.
  [[nodiscard]] static Result<std::unique_ptr<Server>> open(Session& session, Policy base_policy,
                                                            HANDLE in, HANDLE out);
  ~Server() override;

  // Until the broker is done or broke the protocol: the process's exit status. The running
  // execution has been joined and its exit frame written.
  [[nodiscard]] int serve();

 private:
  Server(Session& session, Policy base_policy, UniqueHandle in, UniqueHandle out);

  void send(Bytes frame) override;
  [[nodiscard]] bool output_is_full() const override;
  void read_input(bool wanted) override;
  void forget_input() override;
  [[nodiscard]] Admission<void> start(app::RunRequest request) override;
  [[nodiscard]] bool is_running() const override { return execution_ != nullptr; }
  [[nodiscard]] host::StdinAnswer offer_stdin(ByteView chunk, bool eof) override;
  void cancel(const std::string& cause) override;
  void log_denial(const std::string& text) override;

  void output_moved();
  void settle_backpressure();
  void input_came(ByteView bytes);
  void look_for_hang_up();
  void execution_ended(std::uint64_t id, const ExecResult& result);

  EventQueue queue_;
  Session& session_;
  app::Conversation conversation_;
  UniqueHandle in_;  // until serve
  std::optional<EventQueue::TimerId> hang_up_timer_;
  mutable PipeWriter out_;
  std::optional<PipeReader> input_;
  std::unique_ptr<Execution> execution_;
  std::unique_ptr<Execution> finished_;  // kept until its handlers have returned
};

}  // namespace loom::windows
