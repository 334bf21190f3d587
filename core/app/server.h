#pragma once

#include <loom/policy.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/conversation.h"
#include "app/execution.h"
#include "app/scratch_removals.h"
#include "app/session.h"
#include "host/byte_sink.h"
#include "host/control_group.h"
#include "host/event_loop.h"
#include "host/mount_table.h"
#include "protocol/messages.h"

namespace loom::app {

// Serves one broker on frames (docs/wire.md): the descriptors, the loop and the execution under the
// conversation. `in` and `out` are borrowed.
class Server final : private ConversationActions {
 public:
  // `warm`: while nothing runs, one jail is kept ready for the policy that is expected next.
  [[nodiscard]] static Result<std::unique_ptr<Server>> open(Session& session, Policy base_policy,
                                                            bool warm, int in, int out);
  ~Server() override;

  // Until the broker is done or broke the protocol: the process's exit status. The running
  // execution has been joined, its exit frame written, and what slow cleanup is left waited for.
  [[nodiscard]] int serve();

 private:
  Server(Session& session, Policy base_policy, bool warm, int in, host::ByteSink out);

  void send(Bytes frame) override;
  [[nodiscard]] bool output_is_full() const override;
  void read_input(bool wanted) override;
  void forget_input() override;
  [[nodiscard]] Admission<void> start(RunRequest request) override;
  [[nodiscard]] bool is_running() const override { return execution_ != nullptr; }
  [[nodiscard]] host::StdinAnswer offer_stdin(ByteView chunk, bool eof) override;
  void cancel(const std::string& cause) override;
  void log_denial(const std::string& text) override;

  // In as many frames as it takes.
  void send_output(std::uint64_t id, Stream stream, ByteView data, std::uint64_t total,
                   bool truncated);
  void flush();
  void settle_backpressure();
  void input_is_ready();
  void look_for_hang_up();
  void execution_ended(std::uint64_t id, std::uint64_t number, const ExecResult& result);
  [[nodiscard]] ExecutionEvents events_of(std::uint64_t id);
  void get_ready_soon();
  void get_ready();
  void warm_up();
  [[nodiscard]] std::unique_ptr<Execution> take_warm();
  void drop_warm();
  void warm_lost(std::uint64_t number);
  void jail_gone(std::uint64_t number);
  void leave_dropped_behind();

  Session& session_;
  Conversation conversation_;
  int in_;
  host::EventLoop loop_;
  host::ControlGroupRemovals removals_{loop_};
  ScratchRemovals scratches_{loop_, session_};
  host::ByteSink out_;
  bool output_broken_ = false;
  std::optional<host::EventLoop::TimerId> hang_up_timer_;
  std::unique_ptr<Execution> execution_;
  std::unique_ptr<Execution> finished_;  // kept until its handlers have returned
  const bool warm_;
  Policy expected_;  // of the next execution: the last one's, at first the base policy
  ExecInForce expected_exec_;
  bool steady_ = true;  // the last execution had the policy that was expected
  std::optional<host::EventLoop::TimerId> ready_timer_;
  std::optional<host::EventLoop::TimerId> leaving_timer_;
  std::unique_ptr<Execution> ahead_;  // a jail that waits for a command
  std::uint64_t ahead_number_ = 0;
  std::uint64_t jails_ = 0;  // made so far
  // While there is one. Not the session's: the kernel tells each open file of a change once.
  std::optional<host::MountTable> watched_mounts_;
  std::map<std::uint64_t, std::unique_ptr<Execution>> dropped_;  // told to end, by number
  std::vector<std::unique_ptr<Execution>> finished_jails_;       // as finished_
};

}  // namespace loom::app
