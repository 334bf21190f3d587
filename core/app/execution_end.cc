// How an execution ends, and what is told of it (docs/jail.md 15).
#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <utility>

#include "app/execution.h"
#include "app/known_unmet.h"
#include "host/descriptors.h"
#include "host/errno_text.h"
#include "host/process_table.h"
#include "report/entry_text.h"

namespace loom::app {
namespace {

constexpr short kReadable = POLLIN;
// More than most pipes hold. Each read counts as a page at least, for the frame that it costs: one
// of packets takes one of them (pipe(7)).
constexpr std::size_t kLeastAtEnd = std::size_t{2} << 20;
constexpr std::size_t kPage = 4'096;
// How long a launcher is left to whoever traces it.
constexpr std::chrono::milliseconds kLookPause{20};
// How long the broker waits for an answer while a scratch is removed, and, in all, for the exit:
// slow cleanup must not delay that (docs/wire.md 6.3).
constexpr std::chrono::milliseconds kRemovalPiece{20};
constexpr std::chrono::milliseconds kRemovalMoment{200};

}  // namespace

// ---- the command --------------------------------------------------------------------------------

// The command's end is the run's, and the launcher learns of it from one of its processes by the
// other. Where the kernel tells us how the command ended, nobody has to wait for them.
void Execution::watch_command() {
  if (!running_ || !command_ || !init_pidfd_ || ended_ || !command_watch_) return;
  loop_.watch(init_pidfd_.get(), kReadable, [this](short) { jail_ended(); });
  look_at_command();
  if (command_end_) return command_ended();
  command_watched_ = true;
  loop_.watch(command_.get(), kReadable, [this](short) { command_ended(); });
}

// As early as possible: the event that wakes us up wakes up process 1 as well, which takes the
// status away. The end of a command's output comes a little before its own.
void Execution::look_at_command() {
  if (committed_ && command_watch_ && !command_end_) {
    command_end_ = command_watch_->status(command_.get());
  }
}

void Execution::command_ended() {
  loop_.forget(command_.get());
  command_watched_ = false;
  look_at_command();
  if (!command_end_ || ended_) return;
  // A stop has words of its own for whom it ended. What the command left behind is the child of the
  // jail's first process by now, and may be slow to die.
  if (cancel_.cancelled() || cancel_.timed_out()) return;
  if (!command_watch_->left_nobody(command_.get())) return;
  cut_short_ = true;
  if (may_answer_first()) return answer_first(command_end_->code);
  kill_groups();
}

// Process 1 was quicker, took the command's status and ended with it, and with process 1 everybody
// in the jail has ended. One that was killed instead knows nothing, and the supervisor will say so.
void Execution::process_one_ended() {
  std::optional<host::ExitStatus> end;
  if (init_stat_) end = init_stat_->end_of_only_thread(init_pidfd_.get());
  init_pidfd_.reset();  // whoever answers later has nothing to wait for in the jail
  if (!end || end->signal != 0 || !may_answer_first()) return;
  answer_first(end->code);
}

// In the launcher's words, as learn_end. Its two processes are told to end after the answer: who
// waits for that would wait for a processor behind them.
void Execution::answer_first(int code) {
  leaving_ = true;
  settle({.code = code, .signal = 0});
  drain();
  end_launcher();
}

void Execution::end_launcher() {
  if (leaving_ && !std::exchange(told_to_end_, true)) kill_groups();
}

// Before the child is reaped: until then its number, and with it the group's, is nobody else's.
void Execution::kill_groups() {
  if (child_.pid > 0) ::kill(-child_.pid, SIGKILL);
  // What left the process group did not leave the control group.
  if (group_) group_->kill_all();
}

// Of the jail there are bubblewrap's two processes left, and SIGKILL comes next. Security: where
// no Landlock layer kept the command from tracing process 1, that may be the command's by now.
bool Execution::may_answer_first() const {
  const bool landlocked =
      report_ && std::any_of(report_->applied.begin(), report_->applied.end(),
                             [](const auto& entry) { return entry_tag(entry) == "landlock"; });
  const bool stopped = cancel_.cancelled() || cancel_.timed_out();
  return events_.on_gone && landlocked && !stopped && !run_.made && !run_.scratch &&
         no_jail_.empty() && run_.launch.observe_ms == 0;
}

// The launcher may have been quicker.
void Execution::learn_end() {
  if (!cut_short_ || ended_->signal != SIGKILL) return;
  // In the launcher's words: it exits with 128 and the signal.
  ended_ = {.code = command_end_->code, .signal = 0};
}
// ---- settling -----------------------------------------------------------------------------------

bool Execution::lost_caretaker() const {
  return run_.made && run_.made->needs_caretaker() && !run_.made->has_caretaker();
}

// Security: the locks on the placeholders ended with it. From now on another helper's run may
// remove one, which detaches the mask that lies on it.
void Execution::caretaker_ended() {
  if (run_.made->has_caretaker()) return;  // as child_ended
  loop_.forget(run_.made->end_fd());
  const std::string cause = "the caretaker of absent protected paths was killed";
  note_cause(cause);
  if (control_ && !committed_) refuse_commit(cause);
  kill_now();
}

void Execution::child_ended() {
  if (leaving_) return launcher_ended();
  if (ended_) return;
  // Elsewhere than on Linux the end of any child wakes us up.
  if (const auto ended = host::has_ended(child_.pidfd.get()); ended && !*ended) {
    return look_again_soon();
  }
  if (ahead_) return lose_jail();
  sweep_observed();
  kill_groups();
  const auto status = host::reap_if_ended(child_.pidfd.get());
  if (status && !*status) return;
  if (!status) note_cause("wait: " + status.error().message);
  lost_end_ = !status;
  loop_.forget(child_.pidfd.get());
  settle(status ? **status : host::ExitStatus{.code = 127, .signal = 0});
  if (init_pidfd_) loop_.watch(init_pidfd_.get(), kReadable, [this](short) { jail_ended(); });
  if (init_pidfd_ && command_watch_ && may_answer_first() &&
      command_watch_->left_nobody(command_.get())) {
    leaving_ = true;
    child_.pid = -1;
    return drain();
  }
  finish_when_drained();
}

// Nothing of the run is left to wait for but its last words.
void Execution::settle(host::ExitStatus end) {
  ended_ = end;
  look_at_failed_launch();
  if (run_.made) loop_.forget(run_.made->end_fd());
  if (command_watched_) loop_.forget(command_.get());
  command_watched_ = false;
  cancel_.end();
  for (auto* timer :
       {&climb_timer_, &wall_timer_, &commit_timer_, &setup_timer_, &observe_timer_}) {
    if (*timer) loop_.cancel(**timer);
    timer->reset();
  }
  if (stdin_->fd() >= 0) loop_.forget(stdin_->fd());
  stdin_->abandon();
  pause_output(false);
  drain_timer_ = loop_.at(std::chrono::steady_clock::now() + kDrainLimit, [this] {
    drain_timer_.reset();
    close_output(Stream::kStdout);
    close_output(Stream::kStderr);
    if (!leaving_ && init_pidfd_) jail_ended();
    if (!finished_) finish();
  });
}

// Nobody writes any more, so that an empty pipe has said everything; who waited for its end would
// wait for the launcher.
void Execution::drain() {
  for (Pump* pump : {&out_, &err_}) {
    while (pump->pipe && pump_once(*pump)) {
    }
  }
  if (!finished_) finish_when_drained();
}

// Whoever got the other end from the command, outside of the jail, may go on and on, and the broker
// need not read: beyond what is in the pipe now nothing of the run's comes.
void Execution::bound_end(Pump& pump) const {
  if (!ended_ || pump.left_at_end) return;
  pump.left_at_end = std::max(kLeastAtEnd, host::most_in_pipe(pump.pipe.get()));
}

bool Execution::is_beyond_end(Pump& pump, std::size_t size) const {
  if (!pump.left_at_end) return false;
  *pump.left_at_end -= std::min(*pump.left_at_end, std::max(size, kPage));
  return *pump.left_at_end == 0;
}

// Whoever traces the launcher hears of its end first, and we when that one lets it go; until then
// its descriptor says that it has ended, and waiting for it, that it has not.
void Execution::look_again_soon() {
  if (!host::can_die_with_parent()) return;  // there a descriptor that was asked is quiet again
  loop_.set_events(child_.pidfd.get(), 0);
  look_timer_ = loop_.at(std::chrono::steady_clock::now() + kLookPause, [this] {
    look_timer_.reset();
    loop_.set_events(child_.pidfd.get(), kReadable);
  });
}

void Execution::launcher_ended() {
  const auto status = host::reap_if_ended(child_.pidfd.get());
  if (status && !*status) return look_again_soon();
  loop_.forget(child_.pidfd.get());
  child_.pid = -1;
  tell_if_gone();
}

void Execution::tell_if_gone() {
  if (finished_ && leaving_ && !still_leaves()) events_.on_gone();
}

// Process 1 ends when every other process of the jail has; its supervisor does not wait for that.
void Execution::jail_ended() {
  loop_.forget(init_pidfd_.get());
  if (!ended_) return process_one_ended();
  init_pidfd_.reset();
  if (leaving_) return tell_if_gone();
  finish_when_drained();
}

void Execution::finish_when_drained() {
  if (ended_ && !out_.pipe && !err_.pipe && (leaving_ || !init_pidfd_)) finish();
}

void Execution::finish() {
  finished_ = true;
  if (drain_timer_) loop_.cancel(*drain_timer_);
  drain_timer_.reset();
  learn_end();
  // Whatever stage 2 still said lies in the pipe and the socket; nobody writes to them any more.
  read_report();
  if (control_) read_control();
  if (const auto completed = complete(); !completed) note_cause(completed.error().message);
  result_ = make_result();
  session_.backend().finish();
  if (run_.made) return release_names();
  report_exit();
}

// ---- what was made on the host ------------------------------------------------------------------

// A run without names leaves nothing that a later one could adopt.
std::string Execution::unreleased(const Error& error) const {
  if (!run_.made->needs_caretaker()) return error.message;
  return error.message + "; the next run with these paths removes them";
}

// The host is as it was before anybody hears that the run is over.
void Execution::release_names() {
  if (const auto asked = run_.made->ask_release(); !asked) {
    return names_released({unreleased(asked.error())});
  }
  loop_.watch(run_.made->answer_fd(), kReadable, [this](short) { read_release(); });
  release_timer_ = loop_.at(std::chrono::steady_clock::now() + host::kReleaseLimit, [this] {
    release_timer_.reset();
    loop_.forget(run_.made->answer_fd());
    names_released({"the caretaker did not answer within 2 s"});
  });
}

void Execution::read_release() {
  const auto answer = run_.made->take_answer();
  if (answer && !*answer) return;
  loop_.forget(run_.made->answer_fd());
  loop_.cancel(*release_timer_);
  release_timer_.reset();
  if (answer) return names_released(**answer);
  names_released({unreleased(answer.error())});
}

void Execution::names_released(const std::vector<std::string>& problems) {
  const bool named = run_.made->needs_caretaker();
  for (const std::string& problem : problems) {
    session_.log(LogLevel::kWarning,
                 (named ? "what was made for absent protected paths may still be there: "
                        : "what the run left behind may still be there: ") +
                     problem);
    add_unheld(named ? "placeholders" : "processes", problem);
  }
  if (!run_.scratch) return report_exit();
  removal_ = run_.scratch->hand_over();
  removal_end_ = std::chrono::steady_clock::now() + kRemovalMoment;
  remove_scratch();
}

// What the caretaker has left of it: everything, if it was killed. A command may have left more
// than can be removed at once: whoever takes the rest goes on after the exit.
void Execution::remove_scratch() {
  const auto now = std::chrono::steady_clock::now();
  const bool ended = removal_->go_on(now + kRemovalPiece);
  if (!ended && now < removal_end_) {
    removal_timer_ = loop_.at(now, [this] {
      removal_timer_.reset();
      remove_scratch();
    });
    return;
  }
  for (const std::string& problem : removal_->problems("it is still being removed")) {
    if (ended) {
      session_.log(LogLevel::kWarning, "the private scratch may still be there: " + problem);
    }
    add_unheld("scratch", problem);
  }
  if (ended) removal_.reset();
  report_exit();
}

void Execution::add_unheld(std::string_view what, const std::string& problem) {
  std::vector<std::string>& entries = result_->enforcement;
  entries.insert(std::find_if(entries.begin(), entries.end(), is_skip),
                 "unheld:" + std::string(what) + "=" + one_line(problem));
}

void Execution::report_exit() {
  ExecResult result = std::move(*result_);
  result_.reset();
  events_.on_exit(std::move(result));
  if (leaving_) mounts_.reset();  // with it the jail's mounts, as otherwise with this object
}

WitnessedRun Execution::witnessed_run() const {
  // A report from outside the planned jail is no witness of it.
  WitnessedRun run{.report = no_jail_.empty() ? report_ : std::nullopt,
                   .report_error = no_jail_.empty() ? report_error_ : no_jail_,
                   .host_entries = start_entries_,
                   .host_extras = host_extras_,
                   .ceilings = ceilings_of(session_.facts(), run_.policy),
                   .late_skips = run_.remarks};
  if (confined_ && no_jail_.empty()) run.host_extras.push_back(exec_entry_);
  run.ceilings.entered = group_.has_value();
  if (!no_group_.empty()) run.ceilings.reason = no_group_;
  if (!child_.failure || child_.failure->step == host::ChildStep::kExecute) {
    for (const ChildLimit& limit : run_.launch.child_limits) {
      run.host_entries.push_back(limit.applied_entry);
    }
  }
  return run;
}

// Read while the group is still there.
std::optional<CeilingUse> Execution::ceiling_use() const {
  if (!group_) return std::nullopt;
  const host::ControlGroupUse use = group_->use();
  const Ceilings& asked = run_.launch.ceilings;
  // What somebody else's ceiling did is not this policy's.
  return CeilingUse{
      .peak_memory_bytes = use.peak_memory_bytes,
      .out_of_memory_kills = asked.memory_bytes ? use.out_of_memory_kills : std::nullopt,
      .denied_forks = asked.pids ? use.denied_forks : std::nullopt};
}

// Whether the name alone does not tell: a command may have taken our right to look away, and a file
// may have its name again without the mask, which went along with the first one (rename(2), then
// link(2): the kernel counts no change of the mounts).
bool Execution::only_table_tells(const WatchedPath& watched, const PathFact& now) const {
  if (!watched.masked || !mounts_) return false;
  return now.error == EACCES || (now.kind != PathKind::kDirectory && now.link_count > 1);
}

// A mount of the host's may begin at the same path, below the mask: only the number tells them
// apart.
std::vector<std::string> Execution::lost_masks() const {
  if (!mask_mounts_) {
    const auto now = mounts_->mount_points();
    return now ? host::lost_mount_points(mount_points_, *now) : std::vector<std::string>();
  }
  const auto now = mounts_->numbered_points();
  if (!now) return {};
  std::vector<std::string> lost;
  auto mount = mask_mounts_->begin();
  for (const WatchedPath& watched : run_.launch.watched) {
    if (!watched.masked) continue;
    const auto found = now->find(*mount++);
    if (found == now->end() || found->second != watched.path.str()) {
      lost.push_back(watched.path.str());
    }
  }
  std::sort(lost.begin(), lost.end());
  return lost;
}

// D23: a mask hides the object and the name of the launch. Who replaces the name from outside
// detaches it.
std::vector<std::string> Execution::replaced_masks() const {
  std::vector<std::string> skips = missing_masks_;
  if (!committed_ || run_.launch.watched.empty()) return skips;
  std::optional<std::vector<std::string>> lost;
  if (mounts_ && mounts_->has_changed()) lost = lost_masks();
  host::PathSurveyor surveyor;
  for (const WatchedPath& watched : run_.launch.watched) {
    if (!watched.is_named()) continue;  // a mask over nothing may move with the jail's own /tmp
    const PathFact now = surveyor.look(watched.path);
    if (!lost && only_table_tells(watched, now)) lost = lost_masks();
    const bool gone = watched.masked && lost &&
                      std::binary_search(lost->begin(), lost->end(), watched.path.str());
    const bool hidden = watched.masked && mounts_ && now.error == EACCES;
    if (gone || (!hidden && now.identity != watched.identity)) {
      skips.push_back("mounts: protected " + watched.path.str() + " was replaced during the run");
    }
  }
  return skips;
}

// Without a stage 2 the host's own child takes its steps, and fails in the same words.
void Execution::explain_child_failure(OutcomeFacts& facts) const {
  if (child_.failure->step == host::ChildStep::kDirectory) {
    facts.failure = ControlMessage{.kind = ControlKind::kFailed,
                                   .step = Stage2Step::kDirectory,
                                   .error = child_.failure->error,
                                   .detail = run_.launch.cwd};
  } else {
    facts.host_exec_error = child_.failure->error;
  }
}

OutcomeFacts Execution::outcome_facts() const {
  OutcomeFacts facts{
      .code = ended_->code,
      .signal = ended_->signal,
      .had_stage2 = run_.launch.report_number >= 0,
      .lost_end = lost_end_,
      .cpu_limited = run_.policy.limits.cpu_s.has_value(),
      .file_limited = run_.policy.limits.fsize_bytes.has_value(),
      .fork_braked = run_.exec.has_value() && is_fork_braked(session_.facts().os, report_),
      .committed = committed_,
      .running = running_,
      .refused_commit = refused_commit_,
      .refused_demand = refused_demand_,
      .failure = failure_,
      .host_exec_error = std::nullopt,
      .command_signal = std::nullopt,
      .cancelled = cancel_.cancelled(),
      .timed_out = cancel_.timed_out(),
      .use = ceiling_use(),
      .first_cause = first_cause_};
  if (child_.failure) explain_child_failure(facts);
  if (in_place_) {
    facts.command_signal = ended_->signal;
  } else if (command_end_) {
    facts.command_signal = command_end_->signal;
  } else if (command_) {
    const auto status = host::foreign_exit_status(command_.get());
    if (status) session_.learn_that_kernel_tells_ends();
    // Another end than the launcher's word is the main thread's alone.
    if (status && status->code == ended_->code) facts.command_signal = status->signal;
  }
  return facts;
}

ExecResult Execution::make_result() {
  const OutcomeFacts facts = outcome_facts();
  WitnessedRun witnessed = witnessed_run();
  for (std::string& skip : replaced_masks()) witnessed.late_skips.push_back(std::move(skip));
  return {.code = ended_->code,
          .signal = ended_->signal,
          .stdout_bytes = out_.cap.forwarded(),
          .stderr_bytes = err_.cap.forwarded(),
          .stdout_truncated = out_.cap.truncated(),
          .stderr_truncated = err_.cap.truncated(),
          .enforcement = conclude(run_.audit, witnessed),
          .degraded = session_.features().degraded,
          .wall = std::chrono::duration_cast<Millis>(std::chrono::steady_clock::now() - started_),
          .timed_out = cancel_.timed_out(),
          .cancelled = cancel_.cancelled(),
          .outcome = describe_outcome(facts),
          .use = facts.use,
          .swept_descendant = swept_descendant_};
}

}  // namespace loom::app
