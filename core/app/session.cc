#include "app/session.h"

#include <fcntl.h>
#include <loom/table_backend.h>
#include <loom/utf8.h>
#include <poll.h>
#include <signal.h>
#include <spdlog/logger.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "host/descriptors.h"
#include "host/errno_text.h"
#include "host/exit_status.h"
#include "host/load_backend.h"
#include "host/process_table.h"
#include "host/program_handle.h"

namespace loom::app {
namespace {

constexpr std::size_t kMaxTrialOutput = 65'536;

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

// Also when it cannot be asked about: nobody waits for it then.
bool has_surely_ended(const host::SpawnedChild& child) {
  const auto ended = host::has_ended(child.pidfd.get());
  return !ended || *ended;
}

// A program that cannot be executed by handle is executed by its path.
Image image_of(const host::PinnedProgram& program) {
  if (!program.handle) return {};
  if (host::runs_by_path()) return {.handle = -1, .path = program.fact.path};
  return {.handle = program.handle.get()};
}

// Collects what a trial prints until it ended or `deadline` passed, then reaps it.
TrialResult watch_trial(const host::SpawnedChild& child, int output, int deadline_ms) {
  TrialResult result;
  char buffer[4096];
  bool open = true;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(deadline_ms);
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    pollfd fds[2] = {{child.pidfd.get(), POLLIN, 0}, {open ? output : -1, POLLIN, 0}};
    const int ready = ::poll(fds, 2, std::max<int>(0, static_cast<int>(left.count())));
    if (ready < 0 && errno != EINTR) break;
    if (ready == 0) {
      result.timed_out = true;
      break;
    }
    if (fds[1].revents != 0) {
      const ssize_t got = ::read(output, buffer, sizeof buffer);
      if (got <= 0) open = false;
      const std::size_t room = kMaxTrialOutput - result.output.size();
      if (got > 0) result.output.append(buffer, std::min(room, static_cast<std::size_t>(got)));
    } else if (fds[0].revents != 0 && has_surely_ended(child)) {
      break;
    }
  }
  ::kill(-child.pid, SIGKILL);
  pollfd ended = {child.pidfd.get(), POLLIN, 0};
  while (!has_surely_ended(child)) static_cast<void>(::poll(&ended, 1, -1));
  if (const auto status = host::reap_if_ended(child.pidfd.get()); status && *status) {
    result.code = (*status)->code;
  }
  return result;
}

// A trial whose image was not executed: kUnsupported when the kernel takes no such file, kSystem
// when it was short of something.
tl::unexpected<Error> not_executed(const host::SpawnedChild& child, const LaunchSpec& launch) {
  ::waitpid(child.pid, nullptr, 0);
  const int error = child.failure->error;
  const bool short_of = error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE;
  return fail(short_of ? ErrorCode::kSystem : ErrorCode::kUnsupported,
              "start of " + launch.argv.front() + ": " +
                  host::child_step_name(child.failure->step) + ": " + host::errno_text(error),
              error);
}

}  // namespace

std::vector<AbsolutePath> writable_regions(const Policy& policy) {
  std::vector<AbsolutePath> regions = policy.writable_roots;
  if (policy.scratch.host_path) regions.push_back(*policy.scratch.host_path);
  for (const ExplicitMount& mount : policy.mounts) {
    if (mount.writable) regions.push_back(mount.path);
  }
  return regions;
}

std::string configured_cgroup_base(std::string_view flag, std::string_view variable) {
  if (!flag.empty()) return std::string(flag);
  constexpr std::string_view kSpace = " \t\r\n\v\f";
  const std::size_t first = variable.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return std::string(variable.substr(first, variable.find_last_not_of(kSpace) - first + 1));
}

Session::~Session() = default;

Result<std::unique_ptr<Session>> Session::open(const host::Installation& installation,
                                               SessionOptions options, spdlog::logger& log) {
  std::unique_ptr<Session> session(new Session(std::move(options), log));
  LOOM_TRY_VOID(session->load(installation));
  LOOM_TRY_VOID(session->pin_pieces(installation));
  LOOM_TRY(session->facts_.backend,
           session->backend_->probe({.phase = ProbePhase::kBeforeHello, .facts = session->facts_}));
  LOOM_TRY(session->features_, session->backend_->features(session->facts_));
  return session;
}

Result<void> Session::load(const host::Installation& installation) {
  LOOM_TRY(const std::string file, host::backend_file(installation, options_.backend));
  const auto image =
      options_.starts_nothing ? host::BackendImage::kFile : host::BackendImage::kSealedCopy;
  LOOM_TRY(const loom_backend_v1* table, host::load_backend(file, image));
  LOOM_TRY(backend_, make_table_backend(*table, *this));
  return {};
}

Result<void> Session::pin_pieces(const host::Installation& installation) {
  facts_ = host::machine_facts();
  limits_ = host::adjust_own_limits();
  facts_.descriptor_limit = limits_.descriptors;
  groups_.reason = "no ceiling is asked for";
  if (options_.may_need_groups) {
    groups_ = host::detect_control_group_base(options_.cgroup_base);
  }
  facts_.ceilings = {.available = !groups_.path.empty(), .reason = groups_.reason};
  LOOM_TRY(const Pieces pieces, backend_->pieces());
  if (!pieces.launcher.empty()) {
    launcher_ = host::pin_launcher(pieces.launcher, options_.search_path, options_.untrusted);
    facts_.launcher = launcher_.fact;
  }
  if (!pieces.stage2.empty()) {
    LOOM_TRY(const std::string backend, host::backend_file(installation, options_.backend));
    stage2_ = host::find_stage2(host::piece_directories(installation, backend), pieces.stage2);
    facts_.stage2 = stage2_.fact;
  }
  return {};
}

ImageHandles Session::images() {
  if (!signals_) signals_ = host::signals_with_dispositions();
  return {.launcher = image_of(launcher_),
          .stage2 = image_of(stage2_),
          .given_back = limits_.before,
          .signals = *signals_};
}

void Session::remember_written(const Policy& policy) {
  for (AbsolutePath& region : writable_regions(policy)) {
    const bool known =
        std::find(written_before_.begin(), written_before_.end(), region) != written_before_.end();
    if (known) continue;
    // Security: what no longer fits may be anywhere.
    const bool full = written_before_.size() >= kMaxWrittenBefore;
    if (full) written_before_.clear();
    written_before_.push_back(full ? AbsolutePath::root() : std::move(region));
  }
}

std::vector<FileIdentity> Session::pins() const {
  std::vector<FileIdentity> identities;
  for (const PieceFact& piece : {facts_.launcher, facts_.stage2}) {
    if (piece.present && piece.identity != FileIdentity{}) identities.push_back(piece.identity);
  }
  return identities;
}

std::string Session::next_nonce() { return std::to_string(++runs_); }

Result<void> Session::finish_probing() {
  if (probed_) return {};
  if (!stage2_sealed_) LOOM_TRY_VOID(host::seal_stage2(stage2_));
  stage2_sealed_ = true;
  probing_launches_ = true;
  auto bytes = backend_->probe({.phase = ProbePhase::kBeforePlan, .facts = facts_});
  probing_launches_ = false;
  if (!bytes) return tl::unexpected(std::move(bytes).error());
  facts_.backend = std::move(*bytes);
  LOOM_TRY(features_, backend_->features(facts_));
  if (!options_.runs_once) {
    host::take_digest(launcher_);
    host::take_digest(stage2_);
  }
  probed_ = true;
  return {};
}

// Security: a command may have been given a region in which one of them lies.
Result<std::vector<std::string>> Session::check_pins(const LaunchSpec& launch) {
  std::vector<std::string> claims;
  if (launch.image == ImageKind::kCommand) return claims;
  LOOM_TRY_VOID(host::check_pin(stage2_));
  if (launch.image != ImageKind::kLauncher) return claims;
  LOOM_TRY_VOID(host::check_pin(launcher_));
  claims.emplace_back("launcher-pins");
  if (host::is_ours_to_write(launcher_)) {
    claims.push_back("unheld:launcher-owner=" + launcher_.fact.path + " can be rewritten by uid " +
                     std::to_string(facts_.uid));
  }
  return claims;
}

Result<const Survey*> Session::survey(const Policy& policy) {
  if (surveyed_ != policy) {
    surveyed_.reset();
    LOOM_TRY(survey_, backend_->survey({.policy = policy, .facts = facts_}));
    surveyed_ = policy;
  }
  return &survey_;
}

Result<RunChannels> Session::take_channels(const LaunchSpec& launch) {
  const bool only_streams = launch.report_number < 0 && launch.stdin_number == 0;
  if (!channels_) return only_streams ? RunChannels::make_streams() : RunChannels::make();
  RunChannels taken = std::move(*channels_);
  channels_.reset();
  return taken;
}

void Session::get_ready() {
  memory_files_.open_ahead();
  if (channels_) return;
  if (auto made = RunChannels::make()) channels_.emplace(std::move(*made));
}

Admission<StartedRun> Session::start(const LaunchSpec& launch, const ChildStreams& streams,
                                     std::uint64_t id, guard::ExecObjects* exec) {
  LOOM_TRY(std::vector<std::string> extras, check_pins(launch));
  PendingStart pending{.launch = &launch,
                       .streams = &streams,
                       .id = id,
                       .exec = exec,
                       .child = std::nullopt,
                       .group = std::nullopt,
                       .no_group = {}};
  pending_ = &pending;
  auto started = backend_->start(launch);
  pending_ = nullptr;
  UniqueFd exec_rules(started ? started->exec_rules : -1);
  std::optional<Denial> denial = std::exchange(exec_denial_, std::nullopt);
  if (!started) {
    // The process that a failing backend left behind is ours, and nothing may run on.
    if (pending.child) {
      ::kill(-pending.child->pid, SIGKILL);
      ::waitpid(pending.child->pid, nullptr, 0);
    }
    if (pending.group) {
      pending.group->kill_all();
      static_cast<void>(pending.group->try_remove().has_value());
    }
    if (denial) return tl::unexpected<Refusal>(std::move(*denial));
    return tl::unexpected<Refusal>(std::move(started).error());
  }
  if (!pending.child) return fail(ErrorCode::kBackend, "start: the backend spawned nothing");
  return StartedRun{.child = std::move(*pending.child),
                    .entries = std::move(started->entries),
                    .group = std::move(pending.group),
                    .no_group = std::move(pending.no_group),
                    .extras = std::move(extras),
                    .exec_rules = std::move(exec_rules),
                    .exec_entry = std::move(started->exec_entry)};
}

// One that was killed a moment ago still counts as alive, and hears nothing any more.
Result<host::MadeNames> Session::make_names(const std::vector<host::WantedName>& names) {
  LOOM_TRY(host::Caretaker* const first, caretaker());
  auto made = first->make(names);
  if (made || (made.error().sys_errno != EPIPE && made.error().sys_errno != ECONNRESET))
    return made;
  caretaker_.reset();
  LOOM_TRY(host::Caretaker* const second, caretaker());
  return second->make(names);
}

Result<host::Caretaker*> Session::caretaker() {
  if (caretaker_ && !caretaker_->is_alive()) {
    log(LogLevel::kWarning,
        "the caretaker of absent protected paths was killed; there is a new one");
    caretaker_.reset();
  }
  if (!caretaker_) {
    LOOM_TRY(caretaker_, host::Caretaker::start());
  }
  return caretaker_.get();
}

void Session::log(LogLevel level, std::string_view utf8) {
  log_.log(spdlog_level(level), "{}", escaped(utf8));
}

Result<std::int32_t> Session::spawn(const LaunchSpec& launch) {
  if (pending_ == nullptr) return fail(ErrorCode::kBackend, "spawn: only start may spawn");
  if (pending_->child) return fail(ErrorCode::kBackend, "spawn: a run is spawned once");
  if (&launch != pending_->launch && launch != *pending_->launch) {
    return fail(ErrorCode::kBackend, "spawn: this is not the launch that render gave");
  }
  std::function<void(pid_t)> while_held;
  if (launch.ceilings != Ceilings{} && !groups_.path.empty()) {
    while_held = [this](pid_t child) { enter_group(*pending_, child); };
  }
  LOOM_TRY(pending_->child, launch_child(launch, *pending_->streams, images(), memory_files_,
                                         std::move(while_held)));
  return static_cast<std::int32_t>(pending_->child->pid);
}

// A run that got no group goes on: its report says so, and a demand refuses the commit.
void Session::enter_group(PendingStart& pending, pid_t child) const {
  auto group = host::make_and_enter(groups_.path, pending.id, child, pending.launch->ceilings);
  if (group) {
    pending.group = std::move(*group);
  } else {
    pending.no_group = std::move(group).error().message;
  }
}

Result<TrialResult> Session::try_launch(const LaunchSpec& launch, std::uint32_t deadline_ms) {
  if (!probing_launches_) return fail(ErrorCode::kBackend, "try_launch: only a probe may try");
  UniqueFd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!nothing) {
    const int error = errno;
    return fail(ErrorCode::kSystem, "try_launch: " + host::errno_text(error), error);
  }
  LOOM_TRY(host::PipeEnds pipe, host::open_pipe());
  const UniqueFd read_end = std::move(pipe.read_end);
  UniqueFd write_end = std::move(pipe.write_end);
  const ChildStreams streams{.in = nothing.get(),
                             .out = write_end.get(),
                             .err = write_end.get(),
                             .report = nothing.get(),
                             .control = nothing.get(),
                             .nothing = nothing.get()};
  LOOM_TRY(const host::SpawnedChild child, launch_child(launch, streams, images(), memory_files_));
  write_end.reset();
  if (child.failure) return not_executed(child, launch);
  constexpr std::uint32_t kLongestTrial = 60'000;
  return watch_trial(child, read_end.get(), static_cast<int>(std::min(deadline_ms, kLongestTrial)));
}

Result<ExecObject> Session::next_exec_object() {
  if (pending_ == nullptr || pending_->exec == nullptr) {
    return fail(ErrorCode::kBackend,
                "next_exec_object: no launch that wants exec rules is starting");
  }
  auto object = pending_->exec->next();
  if (object) return *object;
  exec_denial_ = std::move(object).error();
  return fail(ErrorCode::kDenied, exec_denial_->text);
}

Result<std::vector<std::int32_t>> Session::children(std::int32_t pid) {
  return host::read_children(pid);
}

}  // namespace loom::app
