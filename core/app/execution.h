#pragma once

#include <loom/report.h>
#include <loom/stage2_control.h>

#include <ctime>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/prepare_run.h"
#include "app/warm_grounds.h"
#include "cancel/cancel_state.h"
#include "host/control_channel.h"
#include "host/control_group.h"
#include "host/event_loop.h"
#include "host/exit_status.h"
#include "host/mount_table.h"
#include "host/name_watch.h"
#include "host/output_cap.h"
#include "host/path_survey.h"
#include "host/private_scratch.h"
#include "host/stdin_queue.h"
#include "protocol/messages.h"
#include "report/conclude.h"
#include "report/describe_outcome.h"
#include "report/exec_result.h"

namespace loom::app {

inline constexpr std::size_t kMaxRead = 8 * kMaxOutputChunk;  // of a stream that floods
inline constexpr Millis kDrainLimit{500};                     // docs/wire.md 6.3
inline constexpr Millis kSetupLimit{30'000};  // from the start to the commit, whatever wall_s says

// What an execution tells its owner. Called from the event loop; on_exit is the last call but for
// on_gone and comes once. None of them may destroy the execution: it is still on the stack.
struct ExecutionEvents {
  // `data`: up to kMaxRead bytes, with which the stream has sent `total`.
  std::function<void(Stream stream, ByteView data, std::uint64_t total, bool truncated)> on_output;
  std::function<void()> on_stdin_room;  // after StdinAnswer::kWait: offer again
  std::function<void(ExecResult result)> on_exit;
  // Optional, and then `on_exit` need not wait for the launcher's own processes, which have nothing
  // more to do: where still_leaves() says so after it, the execution is kept until this is called.
  std::function<void()> on_gone{};
};

// One run from its start to its result: pumps, stdin, prepare–report–commit, the stop ladder, the
// wall clock, settling. Destroying a running execution kills its jail and waits for the child.
class Execution {
 public:
  // Starts the child. Everything after that is told through `events`. Both references outlive the
  // execution.
  [[nodiscard]] static Admission<std::unique_ptr<Execution>> start(host::EventLoop& loop,
                                                                   Session& session,
                                                                   PreparedRun run,
                                                                   ExecutionEvents events);
  // Starts a jail for which nobody has a command yet: it prepares and reports, and its stage 2
  // waits for a commit that become() may send. `run` was prepared with RunRequest::ahead, after
  // `grounds` were taken. Fails where a jail of that kind cannot wait. `on_loss`: it has ended by
  // itself.
  [[nodiscard]] static Admission<std::unique_ptr<Execution>> start_ahead(
      host::EventLoop& loop, Session& session, WarmGrounds grounds, PreparedRun run,
      std::function<void()> on_loss);
  // Null when this jail, made ahead, serves `run` as a new one would; else why not. Then nothing
  // but its end may come of it.
  [[nodiscard]] const char* why_stale(const PreparedRun& run);
  // From here on it is the execution of `run`, as start's. Only after why_stale said null, in the
  // same wake-up.
  void become(PreparedRun run, ExecutionEvents events);
  // A jail that was made ahead and is not wanted any more: ends it without waiting. Its end is told
  // by on_loss; destroyed before, it is left behind.
  void let_go();
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;
  ~Execution();

  [[nodiscard]] host::StdinAnswer offer_stdin(ByteView chunk, bool eof);
  // Engages the stop ladder; `cause` is remembered if nothing came before it.
  void cancel(const std::string& cause);
  // Climbs to the last rung at once.
  void kill_now();
  // While paused nothing is read from the command's output; it blocks, and memory stays bounded.
  void pause_output(bool paused);
  // Whether the last read of a stream found a whole frame's data or more, which its cap let pass.
  [[nodiscard]] bool floods() const noexcept { return out_.floods() || err_.floods(); }
  // Nobody reads this stream any more: the command gets SIGPIPE as it would without us.
  void close_output(Stream stream);
  // The run's control group, once it has ended: for whoever removes it after the answer. Also tells
  // the launcher's processes to end, where that has not been done.
  [[nodiscard]] std::optional<host::ControlGroup> take_group();
  // In on_exit, after take_group, and later: the launcher's processes were told to end, and on_gone
  // will tell that they have.
  [[nodiscard]] bool still_leaves() const noexcept {
    return leaving_ && (child_.pid > 0 || init_pidfd_);
  }
  // From here on nobody waits for their end.
  void leave_behind() noexcept { let_go_ = true; }
  // What is left of the run's private scratch, once it has ended: likewise.
  [[nodiscard]] std::optional<host::ScratchRemoval> take_scratch();

 private:
  struct Pump {
    UniqueFd pipe;
    host::OutputCap cap;
    Stream stream;
    bool flooding = false;                     // the last read found kMaxOutputChunk or more
    bool dry = false;                          // and after it there was nothing
    std::optional<std::size_t> left_at_end{};  // bytes to be read, once the run has ended
    [[nodiscard]] bool floods() const noexcept { return flooding && !dry && !cap.truncated(); }
  };

  Execution(host::EventLoop& loop, Session& session, PreparedRun run, ExecutionEvents events);
  [[nodiscard]] Admission<void> wait_for_a_command(std::function<void()> on_loss);
  void rest();
  void look_at_names();
  void lose_jail();
  [[nodiscard]] Admission<void> launch();
  [[nodiscard]] Admission<void> spawn(const ChildStreams& streams);
  [[nodiscard]] Result<void> complete();
  void watch_everything();
  void arm_wall_clock();
  void arm_setup_clock();

  void pump(Pump& pump);
  // One read's worth of output; false when there is no more for now, or ever.
  [[nodiscard]] bool pump_once(Pump& pump);
  void bound_end(Pump& pump) const;
  [[nodiscard]] bool is_beyond_end(Pump& pump, std::size_t size) const;
  void write_stdin();
  void read_report();
  void watch_report();
  void close_report();
  void read_control();
  void take_control(const host::ReceivedControl& received);
  void meet_command(pid_t sender);
  [[nodiscard]] pid_t parent_of_command() const;
  void commit_when_ready();
  [[nodiscard]] bool demand_is_met();
  [[nodiscard]] bool jail_outlives_us();
  [[nodiscard]] Result<void> watch_names();
  [[nodiscard]] bool masks_are_in_place();
  [[nodiscard]] std::optional<std::vector<std::uint64_t>> find_mask_mounts() const;
  void look_at_mounts();
  void add_missing_mask(const AbsolutePath& path);
  void stop_watching_names();
  void look_at_failed_launch();
  void take_back_mount_points() const;
  void refuse_commit(const std::string& cause);
  void close_control();
  void watch_command();
  [[nodiscard]] bool may_answer_first() const;
  void look_at_command();
  void command_ended();
  void answer_first(int code);
  void end_launcher();
  void kill_groups();
  void learn_end();
  void drop_group();

  void climb();
  void schedule_climb();
  void signal_rung(StopRung rung);
  [[nodiscard]] TargetsRequest about_processes(Rung rung, std::vector<ProcessRow> table) const;
  [[nodiscard]] TargetsRequest look_at_processes(Rung rung) const;
  [[nodiscard]] Result<void> observe();
  void observe_again();
  void sweep_observed();
  void note_cause(const std::string& cause);

  [[nodiscard]] bool lost_caretaker() const;
  void caretaker_ended();
  void child_ended();
  void settle(host::ExitStatus end);
  void drain();
  void look_again_soon();
  void launcher_ended();
  void tell_if_gone();
  void jail_ended();
  void process_one_ended();
  void finish_when_drained();
  void finish();
  [[nodiscard]] std::string unreleased(const Error& error) const;
  void release_names();
  void read_release();
  void names_released(const std::vector<std::string>& problems);
  void remove_scratch();
  void add_unheld(std::string_view what, const std::string& problem);
  void report_exit();
  [[nodiscard]] ExecResult make_result();
  [[nodiscard]] OutcomeFacts outcome_facts() const;
  void explain_child_failure(OutcomeFacts& facts) const;
  [[nodiscard]] WitnessedRun witnessed_run() const;
  [[nodiscard]] std::optional<CeilingUse> ceiling_use() const;
  [[nodiscard]] bool only_table_tells(const WatchedPath& watched, const PathFact& now) const;
  [[nodiscard]] std::vector<std::string> lost_masks() const;
  [[nodiscard]] std::vector<std::string> replaced_masks() const;

  host::EventLoop& loop_;
  Session& session_;
  PreparedRun run_;
  ExecutionEvents events_;
  CancelState cancel_;
  Instant started_{};
  host::SpawnedChild child_;
  std::vector<std::string> start_entries_;
  std::vector<std::string> host_extras_;
  std::optional<host::ControlGroup> group_;
  std::string no_group_;  // why there is none, when the start tried
  std::optional<host::ExitStatus> ended_;
  Pump out_;
  Pump err_;
  bool paused_ = false;
  bool other_first_ = false;  // which stream a flood let come first
  std::optional<host::StdinQueue> stdin_;
  bool stdin_waited_ = false;

  UniqueFd report_pipe_;
  Bytes report_bytes_;
  std::optional<InnerReport> report_;
  std::string report_error_;
  bool report_watched_ = false;

  UniqueFd control_;
  UniqueFd commit_file_;                // written while stage 2 prepares, sent when it is ready
  UniqueFd exec_rules_;                 // goes with it
  std::string exec_entry_;              // what is claimed of them
  std::unique_ptr<std::byte[]> large_;  // kMaxRead bytes, once a stream floods
  bool confined_ = false;               // stage 2 says that they are in force
  bool completed_ = false;
  bool ready_ = false;
  bool committed_ = false;
  bool running_ = false;
  int commit_tries_ = 0;
  pid_t init_pid_ = 0;   // process 1 of the jail
  pid_t jail_init_ = 0;  // the same, until it is known to die with us
  std::optional<host::ForeignStat> init_stat_;
  UniqueFd init_pidfd_;  // the same process, until it has ended and every other of the jail with it
  UniqueFd command_;     // pidfd of the process that becomes the command
  pid_t command_pid_ = 0;
  bool in_place_ = false;  // the child itself becomes the command
  bool command_watched_ = false;
  std::optional<host::ForeignEnd> command_watch_;
  std::optional<host::ExitStatus> command_end_;  // its own, where the kernel told in time
  bool cut_short_ = false;    // the command ended, and nobody waits for the launcher to say so
  bool leaving_ = false;      // and not waited for either
  bool told_to_end_ = false;  // its processes, once that is so
  std::optional<ControlMessage> failure_;
  std::string refused_demand_;
  std::string refused_commit_;
  std::string no_jail_;  // what stage 2 reported from is not the jail that was planned: why
  timespec launched_{};  // no file of the launcher's is older
  std::optional<timespec> built_;                  // nor younger: stage 2 was heard of
  std::optional<host::NameWatch> names_;           // from before the start to the commit
  std::optional<std::set<AbsolutePath>> touched_;  // what they told; nullopt: nobody watched
  std::set<AbsolutePath> unseen_;                  // what they could not tell of
  std::optional<host::MountTable> mounts_;
  // As right before the commit: the number of each mask's mount, in the order of the watched paths,
  // or, where these are not told, every mount point.
  std::optional<std::vector<std::uint64_t>> mask_mounts_;
  std::vector<std::string> mount_points_;
  std::vector<std::string> missing_masks_;  // "mounts: …": why no commit was sent

  // A jail that was made ahead, until it becomes somebody's.
  bool ahead_ = false;
  bool let_go_ = false;
  bool names_watched_ = false;
  std::optional<WarmGrounds> grounds_;
  std::function<void()> on_loss_;
  std::vector<std::string> pin_claims_;  // what why_stale found of the programs that were started

  bool finished_ = false;
  std::optional<ExecResult> result_;  // once finished, until it is told
  bool lost_end_ = false;             // how the child ended could not be learned
  bool swept_descendant_ = false;     // as ExecResult's
  std::string first_cause_;
  std::optional<host::EventLoop::TimerId> climb_timer_;
  std::optional<host::EventLoop::TimerId> wall_timer_;
  std::optional<host::EventLoop::TimerId> drain_timer_;
  std::optional<host::EventLoop::TimerId> commit_timer_;
  std::optional<host::EventLoop::TimerId> setup_timer_;
  std::optional<host::EventLoop::TimerId> release_timer_;
  std::optional<host::EventLoop::TimerId> removal_timer_;
  std::optional<host::ScratchRemoval> removal_;
  Instant removal_end_{};
  std::optional<host::EventLoop::TimerId> observe_timer_;
  std::optional<host::EventLoop::TimerId> look_timer_;
  std::optional<host::EventLoop::TimerId> report_timer_;
};

}  // namespace loom::app
