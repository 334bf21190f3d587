#include "app/execution.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <thread>
#include <utility>

#include "app/known_unmet.h"
#include "host/byte_sink.h"
#include "host/descriptors.h"
#include "host/errno_text.h"
#include "host/foreign_root.h"
#include "host/mount_point_file.h"
#include "host/process_table.h"
#include "report/entry_text.h"

namespace loom::app {
namespace {

constexpr short kReadable = POLLIN;
// One stream's share of a wake-up; the other stream, frames and timers get their turn after it.
constexpr int kReadsPerWakeUp = 4;
// How often, and how long apart, a commit is put off until the jail would die with us.
constexpr int kMaxCommitTries = 2'000;
constexpr std::chrono::milliseconds kCommitPause{1};
// How long a stage 2 is left alone with a report that its pipe does not hold.
constexpr std::chrono::milliseconds kReportPause{50};

// How often, and how long apart, a group is tried that nobody will wait for later.
constexpr int kDropTries = 40;
constexpr std::chrono::milliseconds kDropPause{5};

bool would_block(int error) { return error == EAGAIN || error == EINTR; }

bool is_empty(int pipe) {
  pollfd one{.fd = pipe, .events = POLLIN, .revents = 0};
  return ::poll(&one, 1, 0) == 0;
}

}  // namespace

Execution::Execution(host::EventLoop& loop, Session& session, PreparedRun run,
                     ExecutionEvents events)
    : loop_(loop),
      session_(session),
      run_(std::move(run)),
      events_(std::move(events)),
      out_{UniqueFd(), host::OutputCap(run_.policy.limits.output_bytes), Stream::kStdout},
      err_{UniqueFd(), host::OutputCap(run_.policy.limits.output_bytes), Stream::kStderr} {}

Admission<std::unique_ptr<Execution>> Execution::start(host::EventLoop& loop, Session& session,
                                                       PreparedRun run, ExecutionEvents events) {
  std::unique_ptr<Execution> execution(
      new Execution(loop, session, std::move(run), std::move(events)));
  // Also when it fails: a command may have begun.
  session.remember_written(execution->run_.policy);
  LOOM_TRY_VOID(execution->launch());
  execution->watch_everything();
  execution->arm_wall_clock();
  execution->arm_setup_clock();
  if (execution->run_.launch.observe_ms > 0) execution->observe_again();
  return execution;
}

// From here to the commit no name on the way to a protected path may change hands unseen.
Result<void> Execution::watch_names() {
  const std::vector<AbsolutePath> paths = named_paths(run_.launch);
  std::optional<host::NameWatch> before = std::exchange(run_.names, std::nullopt);
  if (paths.empty()) return {};
  // Watched since before the plan looked: a name that was another's in between is among the changed
  // ones, now or at the commit.
  if (before && before->watches(paths) && before->changed().empty() && before->unseen().empty()) {
    names_.emplace(std::move(*before));
    return {};
  }
  before.reset();
  // A user without watches left gets the second look at the commit, which a quick exchange back
  // escapes.
  if (auto names = host::NameWatch::open(paths, session_.name_queues()))
    names_.emplace(std::move(*names));
  host::PathSurveyor surveyor;
  for (const WatchedPath& watched : run_.launch.watched) {
    if (!watched.is_named() || surveyor.look(watched.path).identity == watched.identity) continue;
    return fail(ErrorCode::kDenied,
                "protected " + watched.path.str() + " was exchanged while the run was planned");
  }
  return {};
}

// Starts the child; what the launch's exec rules are made of is walked meanwhile.
Admission<void> Execution::spawn(const ChildStreams& streams) {
  std::optional<guard::ExecObjects> objects;
  if (run_.launch.wants_exec_rules && run_.admitted && run_.exec) {
    objects.emplace(run_.admitted->kernel_table(), run_.plan.view, std::move(run_.mounts),
                    run_.exec->allow);
  }
  launched_ = host::earliest_birth_from_now();
  auto began = session_.start(run_.launch, streams, run_.id, objects ? &*objects : nullptr);
  if (!began && began.error().denial && began.error().denial->asked.empty()) {
    began.error().denial->asked = run_.command.argv.front();
  }
  LOOM_TRY(StartedRun started, std::move(began));
  child_ = std::move(started.child);
  group_ = std::move(started.group);
  no_group_ = std::move(started.no_group);
  host_extras_ = std::move(started.extras);
  start_entries_ = std::move(started.entries);
  exec_rules_ = std::move(started.exec_rules);
  exec_entry_ = std::move(started.exec_entry);
  host_extras_.insert(host_extras_.end(), run_.extras.begin(), run_.extras.end());
  if (!objects) return {};
  for (const std::string& doubt : objects->doubtful_roots()) {
    host_extras_.push_back("unheld:exec-landlock=" + one_line(doubt));
  }
  return {};
}

Admission<void> Execution::launch() {
  LOOM_TRY_VOID(watch_names());
  const bool has_stage2 = run_.launch.report_number >= 0;
  LOOM_TRY(RunChannels channels, session_.take_channels(run_.launch));
  started_ = std::chrono::steady_clock::now();
  LOOM_TRY_VOID(spawn({.in = channels.in.childs.get(),
                       .out = channels.out.childs.get(),
                       .err = channels.err.childs.get(),
                       .report = channels.report.childs.get(),
                       .control = channels.control.child.get(),
                       .nothing = channels.nothing.get(),
                       .caretaker = run_.made ? run_.made->registration_fd() : -1,
                       .run = run_.made ? run_.made->run() : 0}));
  if (child_.failure && run_.launch.image != ImageKind::kCommand) {
    ::waitpid(child_.pid, nullptr, 0);
    child_.pid = -1;
    drop_group();
    return fail(ErrorCode::kSystem,
                std::string("start of ") + run_.launch.argv.front() + ": " +
                    host::child_step_name(child_.failure->step) + ": " +
                    host::errno_text(child_.failure->error),
                child_.failure->error);
  }
  stdin_.emplace(std::move(channels.in.ours));
  out_.pipe = std::move(channels.out.ours);
  err_.pipe = std::move(channels.err.ours);
  if (has_stage2) {
    report_pipe_ = std::move(channels.report.ours);
    control_ = std::move(channels.control.host);
    commit_file_ = std::move(channels.commit);
  }
  // The scheduler leaves the launcher where we spawned it, and wakes us up there: what we do now,
  // or a moment later, it waits for. Stage 2 is waited for by nobody.
  if (!has_stage2) LOOM_TRY_VOID(complete());
  in_place_ = run_.launch.image != ImageKind::kLauncher;
  if (run_.launch.observe_ms == 0) return {};
  // Security: whoever looks for runaways must have seen the first process before the command, which
  // waits for our commit, can make others.
  if (const auto seen = observe(); !seen) {
    return fail(seen.error().code,
                "the run's processes cannot be observed: " + seen.error().message,
                seen.error().sys_errno);
  }
  return {};
}

// What a start can do without: until stage 2 is heard of, nothing is committed and nothing printed
// but the launcher's own words.
Result<void> Execution::complete() {
  if (completed_) return {};
  completed_ = true;
  if (control_) {
    LOOM_TRY(commit_file_, host::make_commit(std::move(commit_file_), run_.launch.commit));
  }
  return audit_run(session_, run_);
}

void Execution::watch_everything() {
  // The order is the order of handlers in one wake-up: what the command said comes before its end.
  loop_.watch(out_.pipe.get(), kReadable, [this](short) { pump(out_); });
  loop_.watch(err_.pipe.get(), kReadable, [this](short) { pump(err_); });
  loop_.watch(stdin_->fd(), 0, [this](short) { write_stdin(); });
  if (report_pipe_) {
    report_timer_ = loop_.at(std::chrono::steady_clock::now() + kReportPause, [this] {
      report_timer_.reset();
      watch_report();
    });
  }
  if (control_) loop_.watch(control_.get(), kReadable, [this](short) { read_control(); });
  if (run_.made && run_.made->needs_caretaker()) {
    loop_.watch(run_.made->end_fd(), kReadable, [this](short) { caretaker_ended(); });
  }
  loop_.watch(child_.pidfd.get(), kReadable, [this](short) { child_ended(); });
}

void Execution::arm_wall_clock() {
  if (!run_.policy.limits.wall_s) return;
  // Far enough for any use, and safely within the clock's range.
  constexpr std::uint64_t kLongestWall = 100ull * 365 * 24 * 3600;
  const auto wall = std::chrono::seconds(std::min(*run_.policy.limits.wall_s, kLongestWall));
  wall_timer_ = loop_.at(std::chrono::steady_clock::now() + wall, [this] {
    wall_timer_.reset();
    note_cause("wall_s ran out");
    cancel_.expire(std::chrono::steady_clock::now());
    climb();
  });
}

// A launcher that never gets as far as stage 2 must not keep the helper busy for good.
void Execution::arm_setup_clock() {
  if (!control_) return;
  setup_timer_ = loop_.at(std::chrono::steady_clock::now() + kSetupLimit, [this] {
    setup_timer_.reset();
    if (!committed_) {
      note_cause("the jail was not ready after 30 s");
      kill_now();
    }
  });
}

Execution::~Execution() {
  for (const auto& timer : {climb_timer_, wall_timer_, drain_timer_, commit_timer_, setup_timer_,
                            release_timer_, removal_timer_, observe_timer_, look_timer_}) {
    if (timer) loop_.cancel(*timer);
  }
  if (run_.made && result_) loop_.forget(run_.made->answer_fd());
  for (const int fd : {out_.pipe.get(), err_.pipe.get(), stdin_ ? stdin_->fd() : -1, control_.get(),
                       child_.pidfd.get(), init_pidfd_.get()}) {
    if (fd >= 0) loop_.forget(fd);
  }
  close_report();
  if (run_.made && !ended_) loop_.forget(run_.made->end_fd());
  if (names_watched_) loop_.forget(names_->fd());
  if (command_watched_) loop_.forget(command_.get());
  if (child_.pid > 0 && (!ended_ || leaving_) && !let_go_) {
    sweep_observed();
    ::kill(-child_.pid, SIGKILL);
    ::waitpid(child_.pid, nullptr, leaving_ ? WNOHANG : 0);
    if (!finished_) session_.backend().finish();
  }
  drop_group();
}

// Nobody waits for this run's end any more, so this does, briefly: what was killed is gone within
// milliseconds, and what is not is left to the next helper's sweep.
void Execution::drop_group() {
  if (!group_) return;
  group_->kill_all();
  for (int tries = 0; tries < kDropTries; ++tries) {
    const auto removed = group_->try_remove();
    if (!removed || *removed) break;
    std::this_thread::sleep_for(kDropPause);
  }
  group_.reset();
}

std::optional<host::ControlGroup> Execution::take_group() {
  // Before its owner goes on to the next command, which answer_first would come too late for.
  end_launcher();
  return std::exchange(group_, std::nullopt);
}

std::optional<host::ScratchRemoval> Execution::take_scratch() {
  return std::exchange(removal_, std::nullopt);
}

// ---- output -------------------------------------------------------------------------------------

void Execution::pump(Pump& pump) {
  // A flood may fill the broker's pipe each time it is read, and then nothing else is read either:
  // every other time the other stream comes first, or it would never have its turn.
  Pump& other = &pump == &out_ ? err_ : out_;
  // Its last read may have emptied it, and then nothing wakes us up to find that out.
  if (other.floods() && is_empty(other.pipe.get())) other.dry = true;
  if (pump.floods()) other_first_ = !other_first_;
  if (pump.floods() && other_first_ && other.pipe) static_cast<void>(pump_once(other));
  for (int reads = 0; reads < kReadsPerWakeUp && !paused_ && pump.pipe; ++reads) {
    if (!pump_once(pump)) return;
  }
}

bool Execution::pump_once(Pump& pump) {
  std::array<std::byte, kMaxOutputChunk> small;
  if (pump.flooding && !large_) large_ = std::make_unique_for_overwrite<std::byte[]>(kMaxRead);
  std::byte* const buffer = pump.flooding ? large_.get() : small.data();
  bound_end(pump);
  const ssize_t got = ::read(pump.pipe.get(), buffer, pump.flooding ? kMaxRead : small.size());
  pump.dry = got <= 0;
  if (got < 0 && would_block(errno) && !(leaving_ && errno == EAGAIN)) return false;
  if (got <= 0) {
    look_at_command();
    close_output(pump.stream);
    finish_when_drained();
    return false;
  }
  const auto size = static_cast<std::size_t>(got);
  const bool flooded = std::exchange(pump.flooding, size >= kMaxOutputChunk);
  // Fewer wake-ups. Refused where the user has too many such pages (pipe(7)).
  if (pump.flooding && !flooded)
    host::enlarge_pipe(pump.pipe.get(), host::ByteSink::kFloodPipeBytes);
  const auto verdict = pump.cap.take(size);
  if (verdict.forward) {
    events_.on_output(pump.stream, ByteView(buffer, verdict.bytes), pump.cap.forwarded(),
                      verdict.truncated);
  }
  if (!is_beyond_end(pump, size)) return true;
  close_output(pump.stream);
  finish_when_drained();
  return false;
}

void Execution::pause_output(bool paused) {
  // Once the command has ended its pipes hold little, and the drain has a clock of its own.
  if (ended_) paused = false;
  if (paused == paused_) return;
  paused_ = paused;
  for (Pump* pump : {&out_, &err_}) {
    if (pump->pipe) loop_.set_events(pump->pipe.get(), paused ? short{0} : kReadable);
  }
}

void Execution::close_output(Stream stream) {
  Pump& pump = stream == Stream::kStdout ? out_ : err_;
  if (!pump.pipe) return;
  loop_.forget(pump.pipe.get());
  pump.pipe.reset();
}

// ---- stdin --------------------------------------------------------------------------------------

host::StdinAnswer Execution::offer_stdin(ByteView chunk, bool eof) {
  const int fd = stdin_->fd();
  const host::StdinAnswer answer = stdin_->offer(chunk, eof);
  stdin_waited_ = answer == host::StdinAnswer::kWait;
  if (fd >= 0 && stdin_->wants_write()) loop_.set_events(fd, POLLOUT);
  if (answer == host::StdinAnswer::kAccepted && !stdin_->wants_write()) write_stdin();
  return answer;
}

void Execution::write_stdin() {
  const int fd = stdin_->fd();
  if (fd < 0) return;
  stdin_->write_some();
  if (stdin_->fd() < 0) {
    loop_.forget(fd);
  } else {
    loop_.set_events(fd, stdin_->wants_write() ? short{POLLOUT} : short{0});
  }
  if (stdin_waited_) {
    stdin_waited_ = false;
    events_.on_stdin_room();
  }
}

// ---- prepare, report, commit --------------------------------------------------------------------

// A short report need not be watched for: stage 2 is done with it before it says that it is ready,
// and each wake-up on the way there is one that it may wait for.
void Execution::watch_report() {
  if (!report_pipe_ || report_watched_ || finished_) return;
  report_watched_ = true;
  loop_.watch(report_pipe_.get(), kReadable, [this](short) { read_report(); });
}

void Execution::close_report() {
  if (report_watched_) loop_.forget(report_pipe_.get());
  report_watched_ = false;
  report_pipe_.reset();
  if (report_timer_) loop_.cancel(*report_timer_);
  report_timer_.reset();
}

void Execution::read_report() {
  if (!report_pipe_) return;
  std::array<std::byte, 4096> buffer;
  for (;;) {
    const ssize_t got = ::read(report_pipe_.get(), buffer.data(), buffer.size());
    if (got < 0 && would_block(errno)) return watch_report();
    if (got <= 0) break;
    const auto size = static_cast<std::size_t>(got);
    // One byte past the ceiling is kept, so that too long a report is refused and not cut.
    const std::size_t room = kMaxInnerReportBytes + 1 - report_bytes_.size();
    report_bytes_.insert(report_bytes_.end(), buffer.begin(),
                         buffer.begin() + static_cast<std::ptrdiff_t>(std::min(size, room)));
  }
  close_report();
  if (report_bytes_.size() > kMaxInnerReportBytes) {
    report_error_ = "the report is longer than 65536 bytes";
  } else if (!report_bytes_.empty()) {
    auto report = decode_inner_report(report_bytes_);
    if (report) {
      report_ = std::move(*report);
    } else {
      report_error_ = report.error().message;
    }
  }
  commit_when_ready();
}

void Execution::read_control() {
  while (control_) {
    auto received = host::receive_control(control_.get());
    if (!received || received->closed) {
      // The channel is close-on-exec: its end after a commit is the command's beginning.
      if (committed_ && !failure_) running_ = true;
      close_control();
      watch_command();
      return;
    }
    if (!received->message) return;
    take_control(*received);
  }
}

void Execution::take_control(const host::ReceivedControl& received) {
  switch (received.message->kind) {
    case ControlKind::kHere:
      meet_command(received.sender);
      return;
    case ControlKind::kReady:
      meet_command(received.sender);
      ready_ = true;
      if (ahead_) rest();
      return report_pipe_ ? read_report() : commit_when_ready();
    case ControlKind::kConfined:
      confined_ = true;
      return;
    case ControlKind::kFailed:
      failure_ = received.message;
      note_cause("stage 2: " + std::string(stage2_step_name(failure_->step)));
      return;
    case ControlKind::kCommit:
      return;
  }
}

void Execution::meet_command(pid_t sender) {
  if (command_) return;
  if (!ahead_) {
    if (const auto completed = complete(); !completed) {
      return refuse_commit(completed.error().message);
    }
  }
  // Not by the sender: Linux names nobody either when stage 2 was killed before its word was read.
  // Elsewhere there are no namespaces: launcher, stage 2 and command are one process, and its end
  // is the child's.
  if (!host::can_die_with_parent()) {
    in_place_ = true;
    return;
  }
  // It waits for our commit, so the pid cannot have been reused.
  if (auto pidfd = host::open_pidfd(sender)) command_.reset(*pidfd);
  command_pid_ = sender;
  if (run_.launch.image != ImageKind::kLauncher) return;
  built_ = host::latest_birth_until_now();
  if (host::shares_namespaces(
          command_.get(), sender,
          {.pids = run_.launch.jailed_pids, .network = run_.policy.network.blocks_direct()})) {
    no_jail_ = "the launcher made no namespaces of the jail's own";
    return refuse_commit(no_jail_);
  }
  if (run_.launch.jailed_pids) {
    init_pid_ = parent_of_command();
    jail_init_ = init_pid_;
    if (auto pidfd = host::open_pidfd(jail_init_)) init_pidfd_.reset(*pidfd);
    if (run_.made && init_pidfd_) run_.made->meet_process_one(init_pidfd_.get());
    static_cast<void>(jail_outlives_us());
    if (session_.kernel_tells_ends()) {
      command_watch_ = host::ForeignEnd::watch(command_pid_, init_pid_);
    }
  } else if (run_.made) {
    run_.made->meet_view_of(sender);
  }
  // Also where no mask is watched: the mounts then go with this descriptor, after the answer, and
  // not in the last exit of the jail, which the answer waits for.
  if (auto table = host::MountTable::open(sender)) mounts_.emplace(std::move(*table));
}

pid_t Execution::parent_of_command() const {
  if (const auto parent = host::parent_of(command_.get())) return *parent;
  const auto row = host::read_process(command_pid_);
  return row ? row->parent : 0;
}

// Process 1 of the jail arms its own parent-death signal right after it forked stage 2; until it
// sleeps in wait, a helper that died would leave the jail behind.
bool Execution::jail_outlives_us() {
  if (jail_init_ == 0) return false;
  if (!init_stat_) init_stat_ = host::ForeignStat::open(jail_init_);
  if (init_stat_ && init_stat_->state() == 'S') jail_init_ = 0;
  return jail_init_ > 0;
}

bool Execution::demand_is_met() {
  if (session_.options().demand == Demand::kBestEffort) return true;
  WitnessedRun witnessed = witnessed_run();
  // A promise until the commit: where stage 2 cannot keep it, no command runs.
  if (!exec_entry_.empty()) witnessed.host_extras.push_back(exec_entry_);
  const std::vector<std::string> entries = conclude(run_.audit, witnessed);
  const std::vector<std::string> missing =
      unmet_layers({.demand = session_.options().demand,
                    .policy = &run_.policy,
                    .exec_rules = run_.needs_exec_layer},
                   session_.facts().os, session_.features().degraded, entries);
  refused_demand_ = explain_missing(missing, entries);
  return missing.empty();
}

void Execution::commit_when_ready() {
  if (ahead_ || !ready_ || report_pipe_ || committed_ || !control_) return;
  if (ended_ || cancel_.cancelled()) return;
  if (!refused_demand_.empty() || commit_timer_) return;
  if (!demand_is_met()) return refuse_commit("demand not met: " + refused_demand_);
  if (jail_outlives_us()) {
    if (++commit_tries_ == kMaxCommitTries) {
      return refuse_commit("process 1 of the jail did not get ready to die with the helper");
    }
    commit_timer_ = loop_.at(std::chrono::steady_clock::now() + kCommitPause, [this] {
      commit_timer_.reset();
      commit_when_ready();
    });
    return;
  }
  if (!masks_are_in_place()) return refuse_commit("a mask is not in place");
  // Stage 2's word and the caretaker's end may have come together.
  if (lost_caretaker()) return caretaker_ended();
  const auto sent = host::send_commit(control_.get(), commit_file_.get(), exec_rules_.get());
  committed_ = sent.has_value();
  if (!sent) return refuse_commit("commit: " + sent.error().message);
  // Who shares a processor with stage 2 may go on only when a short command is over.
  look_at_command();
}

// Stage 2 meets the end of the channel and exits without running anything.
void Execution::refuse_commit(const std::string& cause) {
  note_cause(cause);
  refused_commit_ = cause;
  close_control();
}

// bubblewrap masks whatever object has the name when it gets there. Stage 2 sees a mask in its
// place; only out here can be seen whether what lies under it is still what was to be hidden.
bool Execution::masks_are_in_place() {
  if (run_.launch.watched.empty() || run_.launch.image != ImageKind::kLauncher) return true;
  look_at_mounts();
  stop_watching_names();
  for (const WatchedPath& watched : run_.launch.watched) {
    const bool mounted =
        !watched.masked || mask_mounts_ ||
        std::binary_search(mount_points_.begin(), mount_points_.end(), watched.path.str());
    const bool told = touched_ && !unseen_.contains(watched.path);
    const bool same = !watched.is_named() ||
                      (told ? !touched_->contains(watched.path)
                            : host::survey_path(watched.path).identity == watched.identity);
    if (!mounted || !same) add_missing_mask(watched.path);
  }
  return missing_masks_.empty();
}

// Each by its name: for the whole table the kernel takes as long as for fifty names, and each mount
// more makes it longer. Nothing where one is not found so.
std::optional<std::vector<std::uint64_t>> Execution::find_mask_mounts() const {
  const auto view = host::ForeignRoot::open(command_pid_);
  std::vector<std::uint64_t> mounts;
  for (const WatchedPath& watched : run_.launch.watched) {
    if (!watched.masked) continue;
    const auto mount = view ? view->mount_at(watched.path) : std::nullopt;
    if (!mount) return std::nullopt;
    mounts.push_back(*mount);
  }
  return mounts;
}

// Asked again at the end: what changed before the look that follows is in it.
void Execution::look_at_mounts() {
  if (!mounts_) return;
  static_cast<void>(mounts_->has_changed());
  mask_mounts_ = find_mask_mounts();
  if (mask_mounts_) return;
  if (auto points = mounts_->mount_points()) mount_points_ = std::move(*points);
}

void Execution::add_missing_mask(const AbsolutePath& path) {
  missing_masks_.push_back("mounts: protected " + path.str() +
                           " was exchanged while the jail was set up");
}

void Execution::stop_watching_names() {
  if (!names_) return;
  if (names_watched_) loop_.forget(names_->fd());
  names_watched_ = false;
  touched_ = names_->changed();
  unseen_ = names_->unseen();
  names_.reset();
}

// A launcher that misses what it was to mount on says so in its own words. Whoever changes names
// meanwhile is told which.
void Execution::look_at_failed_launch() {
  if (committed_ || run_.launch.image != ImageKind::kLauncher) return;
  stop_watching_names();
  take_back_mount_points();
  if (ready_ || !touched_ || !missing_masks_.empty()) return;
  for (const AbsolutePath& path : *touched_) add_missing_mask(path);
}

// What vanished while the jail was built is not to come back as an empty file.
void Execution::take_back_mount_points() const {
  for (const WatchedPath& watched : run_.launch.watched) {
    if (!watched.masked || !watched.is_named()) continue;
    const bool told = touched_ && !unseen_.contains(watched.path);
    if (told && !touched_->contains(watched.path)) continue;
    host::remove_mount_point_file(watched.path, launched_, built_);
  }
}

void Execution::close_control() {
  if (!control_) return;
  loop_.forget(control_.get());
  control_.reset();
}

// ---- stop ladder --------------------------------------------------------------------------------

void Execution::note_cause(const std::string& cause) {
  if (first_cause_.empty()) first_cause_ = cause;
}

void Execution::cancel(const std::string& cause) {
  if (ended_) return;
  note_cause(cause);
  cancel_.request(std::chrono::steady_clock::now());
  climb();
}

void Execution::kill_now() {
  if (!ended_) signal_rung(StopRung::kKill);
}

void Execution::climb() {
  while (const auto rung = cancel_.due(std::chrono::steady_clock::now())) signal_rung(*rung);
  schedule_climb();
}

void Execution::schedule_climb() {
  if (climb_timer_) loop_.cancel(*climb_timer_);
  climb_timer_.reset();
  if (const auto next = cancel_.next_deadline()) {
    climb_timer_ = loop_.at(*next, [this] {
      climb_timer_.reset();
      climb();
    });
  }
}

void Execution::signal_rung(StopRung rung) {
  const bool last = rung == StopRung::kKill;
  const int signal = last ? SIGKILL : SIGTERM;
  bool whole_group = true;
  // The last rung spares nobody of the group, so only a backend that saw others has more to say.
  if (!last || run_.launch.observe_ms > 0) {
    const auto targets =
        session_.backend().targets(look_at_processes(last ? Rung::kKill : Rung::kTerm));
    if (targets) {
      for (const ProcessRow& row : targets->processes) host::signal_process(row, signal);
      whole_group = targets->whole_group;
    }
  }
  if (last || whole_group) ::kill(-child_.pid, signal);
}

// ---- observing ----------------------------------------------------------------------------------

TargetsRequest Execution::about_processes(Rung rung, std::vector<ProcessRow> table) const {
  return {.rung = rung,
          .child = child_.pid,
          .jailed_pids = run_.launch.jailed_pids,
          .launched = run_.launch.image == ImageKind::kLauncher,
          .table = std::move(table)};
}

// Without a table when it cannot be read: whoever was seen before may still be known.
TargetsRequest Execution::look_at_processes(Rung rung) const {
  auto table = host::read_process_table();
  return about_processes(rung, table ? std::move(*table) : std::vector<ProcessRow>());
}

Result<void> Execution::observe() {
  LOOM_TRY(std::vector<ProcessRow> table, host::read_process_table());
  return session_.backend().observe(about_processes(Rung::kTerm, std::move(table)));
}

void Execution::observe_again() {
  observe_timer_ =
      loop_.at(std::chrono::steady_clock::now() + Millis(run_.launch.observe_ms), [this] {
        observe_timer_.reset();
        static_cast<void>(observe().has_value());  // a look that failed is left out
        observe_again();
      });
}

// Descendants that left the group are in nobody's reach but theirs who saw them. The child has
// ended and is not reaped, or nobody waits for its end any more.
void Execution::sweep_observed() {
  if (run_.launch.observe_ms == 0) return;
  const auto targets = session_.backend().targets(look_at_processes(Rung::kSettle));
  if (!targets) return;
  for (const ProcessRow& row : targets->processes) {
    const bool delivered = host::signal_process(row, SIGKILL);
    if (delivered && row.pid != child_.pid) swept_descendant_ = true;
  }
}

}  // namespace loom::app
