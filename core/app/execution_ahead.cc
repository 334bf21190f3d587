// A jail that is made before anybody asked for it (docs/jail.md, "Warm jails").
#include <poll.h>

#include <algorithm>
#include <utility>

#include "app/execution.h"

namespace loom::app {

Admission<std::unique_ptr<Execution>> Execution::start_ahead(host::EventLoop& loop,
                                                             Session& session, WarmGrounds grounds,
                                                             PreparedRun run,
                                                             std::function<void()> on_loss) {
  const bool may_wait = run.launch.image == ImageKind::kLauncher && run.launch.jailed_pids &&
                        run.launch.report_number >= 0 && run.launch.observe_ms == 0 &&
                        !run.launch.wants_exec_rules && !run.made && !run.scratch && !run.exec;
  if (!may_wait) return fail(ErrorCode::kUnsupported, "a jail of this kind cannot wait");
  std::unique_ptr<Execution> execution(new Execution(loop, session, std::move(run), {}));
  execution->grounds_.emplace(std::move(grounds));
  LOOM_TRY_VOID(execution->wait_for_a_command(std::move(on_loss)));
  return execution;
}

Admission<void> Execution::wait_for_a_command(std::function<void()> on_loss) {
  ahead_ = true;
  on_loss_ = std::move(on_loss);
  LOOM_TRY_VOID(launch());
  const std::vector<WatchedPath>& watched = run_.launch.watched;
  const bool named = std::any_of(watched.begin(), watched.end(),
                                 [](const WatchedPath& path) { return path.is_named(); });
  // Security: a second look, which does for a moment, does not tell of hours.
  if (named && (!names_ || !names_->unseen().empty()))
    return fail(ErrorCode::kSystem, "nobody watches the protected names");
  watch_everything();
  if (names_) {
    names_watched_ = true;
    loop_.watch(names_->fd(), POLLIN, [this](short) { look_at_names(); });
  }
  pause_output(true);  // the launcher's own words wait for somebody to hear them
  arm_setup_clock();
  return {};
}

// Also so that the kernel keeps no queue for as long as the jail waits.
void Execution::look_at_names() {
  if (!names_->changed().empty()) let_go();
}

// Stage 2 has prepared and waits. Nothing happens from here on until somebody asks.
void Execution::rest() {
  if (setup_timer_) loop_.cancel(*setup_timer_);
  setup_timer_.reset();
  // A jail whose mounts cannot be read is one that why_stale will not take.
  if (!mounts_ || !grounds_->remember_jail(*mounts_)) refuse_commit("the jail's mount table");
}

// Whoever is told to end may be in no hurry (a ptracer, a frozen group), and nobody waits.
void Execution::let_go() {
  if (let_go_) return;
  let_go_ = true;
  refuse_commit("not wanted any more");
  if (setup_timer_) loop_.cancel(*setup_timer_);
  setup_timer_.reset();
  mounts_.reset();  // with it the jail's mounts
  kill_groups();
  stop_watching_names();
  session_.backend().finish();
}

void Execution::lose_jail() {
  // Before the reaping: until then the process id, and with it the group's, cannot be another's.
  let_go();
  static_cast<void>(host::reap_if_ended(child_.pidfd.get()).has_value());
  take_back_mount_points();
  loop_.forget(child_.pidfd.get());
  child_.pid = -1;
  on_loss_();
}

const char* Execution::why_stale(const PreparedRun& run) {
  if (let_go_ || !refused_commit_.empty() || failure_) return "its jail failed";
  if (!control_) return "its jail ended";  // and whoever read that has closed it
  // Stage 2 says nothing while it waits: a word, or the end of the channel, is its end. Before, its
  // words come in order.
  pollfd word{.fd = control_.get(), .events = POLLIN, .revents = 0};
  const auto ended = host::has_ended(child_.pidfd.get());
  if (!ended || *ended || (ready_ && ::poll(&word, 1, 0) != 0)) return "its jail ended";
  if (run_.launch.ceilings != Ceilings{} && !group_) return "it got no control group";
  const char* const why = grounds_->why_stale(session_, run_, run, mounts_ ? &*mounts_ : nullptr);
  if (why != nullptr) return why;
  if (names_ && !names_->changed().empty()) return "a protected name was touched";
  auto claims = session_.check_pins(run.launch);
  if (!claims) return "a program was rewritten";
  pin_claims_ = std::move(*claims);
  return nullptr;
}

void Execution::become(PreparedRun run, ExecutionEvents events) {
  run_ = std::move(run);
  events_ = std::move(events);
  ahead_ = false;
  grounds_.reset();
  if (names_watched_) loop_.forget(names_->fd());
  names_watched_ = false;
  host_extras_ = std::move(pin_claims_);
  host_extras_.insert(host_extras_.end(), run_.extras.begin(), run_.extras.end());
  started_ = std::chrono::steady_clock::now();
  session_.remember_written(run_.policy);
  pause_output(false);
  arm_wall_clock();
  if (setup_timer_) loop_.cancel(*setup_timer_);
  arm_setup_clock();
  if (const auto completed = complete(); !completed) {
    return refuse_commit(completed.error().message);
  }
  commit_when_ready();
}

}  // namespace loom::app
