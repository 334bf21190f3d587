#include "app/server.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <span>
#include <utility>

namespace loom::app {
namespace {

constexpr std::size_t kReadChunk = 65'536;
#if defined(POLLRDHUP) && !defined(LOOM_ASKS_FOR_HANG_UPS)
// Never readable on a pipe or a stream socket, so poll reports nothing but the other side's end.
constexpr short kHangUpOnly = POLLPRI | POLLRDHUP;
constexpr bool kMustAsk = false;
#else
// macOS' poll forgets who waits for nothing but a hang-up once data came. It answers when it is
// asked for data too.
constexpr short kHangUpOnly = 0;
constexpr bool kMustAsk = true;
#endif
constexpr std::chrono::milliseconds kAskPause{100};

// How long after an answer, or the hello, nothing is asked for before the helper gets ready.
constexpr std::chrono::milliseconds kReadyPause{2};
constexpr std::chrono::milliseconds kLastWait{1'000};
// How many ended jails may still be waited for before the next answer waits for its own.
constexpr std::size_t kMaxLeaving = 8;
constexpr std::uint64_t kWarmId = 0;       // of the control group: exec-0-<pid>
constexpr std::uint32_t kWarmVersion = 2;  // of policies: the last one without an exec table

}  // namespace

Server::Server(Session& session, Policy base_policy, bool warm, int in, host::ByteSink out)
    : session_(session),
      conversation_(*this, base_policy),
      in_(in),
      out_(std::move(out)),
      warm_(warm),
      expected_(std::move(base_policy)),
      expected_exec_(exec_in_force(expected_, nullptr)) {}

Server::~Server() = default;

Result<std::unique_ptr<Server>> Server::open(Session& session, Policy base_policy, bool warm,
                                             int in, int out) {
  LOOM_TRY(host::ByteSink sink, host::ByteSink::open(out));
  return std::unique_ptr<Server>(
      new Server(session, std::move(base_policy), warm, in, std::move(sink)));
}

int Server::serve() {
  conversation_.greet(session_.features().tags);
  loop_.watch(in_, POLLIN, [this](short) { input_is_ready(); });
  if (out_.can_wait()) loop_.watch(out_.poll_fd(), 0, [this](short) { flush(); });
  flush();
  // While the broker reads the hello. What fails here fails again, and by name, at the first start.
  static_cast<void>(session_.finish_probing().has_value());
  get_ready_soon();
  // Frames first: what is decided but not yet written still belongs to the broker.
  while (!conversation_.closing() || execution_ || !removals_.empty() || !scratches_.joined() ||
         !dropped_.empty() || (out_.pending() > 0 && !output_broken_)) {
    if (!loop_.run_once()) return 1;
    finished_.reset();
    finished_jails_.clear();
    if (!conversation_.closing()) continue;
    drop_warm();
    leave_dropped_behind();
  }
  return *conversation_.closing();
}

// ---- output -------------------------------------------------------------------------------------

void Server::send(Bytes frame) {
  if (output_broken_) return;
  out_.push(std::move(frame));
  flush();
}

void Server::send_output(std::uint64_t id, Stream stream, ByteView data, std::uint64_t total,
                         bool truncated) {
  if (output_broken_) return;
  std::array<SplitFrame, kMaxRead / kMaxOutputChunk> frames;
  std::array<ByteView, 3 * frames.size()> pieces;
  std::size_t count = 0;
  for (ByteView left = data; count == 0 || !left.empty(); ++count) {
    const ByteView chunk = left.first(std::min(left.size(), kMaxOutputChunk));
    left = left.subspan(chunk.size());
    SplitFrame& frame = frames.at(count);
    frame = split_exec_out_frame(id, stream, chunk.size(), total - left.size(),
                                 truncated && left.empty());
    pieces[3 * count] = frame.head;
    pieces[3 * count + 1] = chunk;
    pieces[3 * count + 2] = frame.tail;
  }
  out_.push_or_write(std::span(pieces).first(3 * count));
  flush();
}

void Server::flush() {
  if (output_broken_) return;
  if (!out_.flush()) {
    output_broken_ = true;
    if (out_.can_wait()) loop_.forget(out_.poll_fd());
    conversation_.output_broke();
    return;
  }
  if (out_.can_wait()) {
    loop_.set_events(out_.poll_fd(), out_.pending() > 0 ? short{POLLOUT} : short{0});
  }
  settle_backpressure();
  conversation_.output_moved();
}

bool Server::output_is_full() const { return out_.pending() > kMaxPendingReplies; }

void Server::settle_backpressure() {
  if (!execution_) return;
  // What a flood sends while something waits is copied to wait behind it.
  execution_->pause_output(out_.pending() > (execution_->floods() ? 0 : kMaxPendingOutput));
}

// ---- input --------------------------------------------------------------------------------------

void Server::input_is_ready() {
  // A broker that left while the command does not read its stdin.
  if (conversation_.input_must_wait()) return conversation_.broker_left();
  std::array<std::byte, kReadChunk> buffer;
  const ssize_t got = ::read(in_, buffer.data(), buffer.size());
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (got <= 0) return conversation_.input_ended();
  conversation_.take_input(ByteView(buffer.data(), static_cast<std::size_t>(got)));
}

void Server::read_input(bool wanted) {
  loop_.set_events(in_, wanted ? short{POLLIN} : kHangUpOnly);
  if (kMustAsk && !wanted && !hang_up_timer_) look_for_hang_up();
}

// While the broker's input waits, and where poll does not tell.
void Server::look_for_hang_up() {
  hang_up_timer_ = loop_.at(std::chrono::steady_clock::now() + kAskPause, [this] {
    hang_up_timer_.reset();
    if (conversation_.closing() || !conversation_.input_must_wait()) return;
    pollfd input{.fd = in_, .events = POLLIN, .revents = 0};
    if (::poll(&input, 1, 0) == 1 && (input.revents & POLLHUP) != 0) {
      return conversation_.broker_left();
    }
    look_for_hang_up();
  });
}

void Server::forget_input() {
  loop_.forget(in_);
  if (hang_up_timer_) loop_.cancel(*hang_up_timer_);
  hang_up_timer_.reset();
}

// ---- the execution ------------------------------------------------------------------------------

Admission<void> Server::start(RunRequest request) {
  const std::uint64_t id = request.id;
  ExecInForce in_force = request.exec;
  request.may_have_jail = ahead_ != nullptr;
  LOOM_TRY(PreparedRun run, prepare_run(session_, std::move(request)));
  steady_ = run.policy == expected_;
  expected_ = run.policy;
  expected_exec_ = std::move(in_force);
  if (ready_timer_) loop_.cancel(*ready_timer_);
  ready_timer_.reset();
  if (ahead_) {
    const char* const stale = ahead_->why_stale(run);
    if (stale == nullptr) {
      execution_ = take_warm();
      execution_->become(std::move(run), events_of(id));
      return {};
    }
    session_.log(LogLevel::kDebug, std::string("the waiting jail is not used: ") + stale);
    drop_warm();
  }
  LOOM_TRY(execution_, Execution::start(loop_, session_, std::move(run), events_of(id)));
  return {};
}

ExecutionEvents Server::events_of(std::uint64_t id) {
  const std::uint64_t number = ++jails_;
  std::function<void()> on_gone;
  if (dropped_.size() < kMaxLeaving) on_gone = [this, number] { jail_gone(number); };
  return {
      .on_output = [this, id](Stream stream, ByteView data, std::uint64_t total,
                              bool truncated) { send_output(id, stream, data, total, truncated); },
      .on_stdin_room = [this] { conversation_.stdin_has_room(); },
      .on_exit = [this, id,
                  number](const ExecResult& result) { execution_ended(id, number, result); },
      .on_gone = std::move(on_gone)};
}

void Server::execution_ended(std::uint64_t id, std::uint64_t number, const ExecResult& result) {
  std::unique_ptr<Execution> ended = std::move(execution_);
  conversation_.send_exit(id, result);
  if (auto group = ended->take_group()) removals_.add(std::move(*group));
  if (auto scratch = ended->take_scratch()) scratches_.add(std::move(*scratch));
  if (ended->still_leaves()) {
    dropped_.emplace(number, std::move(ended));
  } else {
    finished_ = std::move(ended);
  }
  conversation_.stdin_has_room();
  get_ready_soon();
}

// ---- a jail ahead of its command ----------------------------------------------------------------

// Who sends one command after the other without a pause is not made to wait for what none of them
// gets.
void Server::get_ready_soon() {
  if (ready_timer_) return;
  ready_timer_ = loop_.at(std::chrono::steady_clock::now() + kReadyPause, [this] {
    ready_timer_.reset();
    get_ready();
  });
}

void Server::get_ready() {
  if (execution_ || conversation_.closing()) return;
  // Who changes the policy with each command has no use for a jail made ahead.
  if (warm_ && steady_ && session_.features().can_warm) warm_up();
  if (!ahead_) session_.get_ready();
}

// What fails here fails again, and by name, when somebody asks.
void Server::warm_up() {
  if (ahead_ || !dropped_.empty()) return;
  if (expected_exec_.version > kWarmVersion) return;
  RunRequest request{.argv = {"true"},
                     .environment = {},
                     .cwd = {},
                     .policy = expected_,
                     .exec = expected_exec_,
                     .id = kWarmId,
                     .ahead = true};
  auto mounts = host::MountTable::open(::getpid());
  auto grounds = WarmGrounds::take(session_);
  if (!mounts || !grounds) return;
  auto run = prepare_run(session_, std::move(request));
  if (!run) return;
  const std::uint64_t number = ++jails_;
  auto ahead = Execution::start_ahead(loop_, session_, std::move(*grounds), std::move(*run),
                                      [this, number] { warm_lost(number); });
  if (!ahead) return;
  ahead_ = std::move(*ahead);
  ahead_number_ = number;
  watched_mounts_ = std::move(*mounts);
  // The jail would go on showing what was unmounted, and hold it.
  loop_.watch(watched_mounts_->fd(), POLLPRI, [this](short) { drop_warm(); });
}

std::unique_ptr<Execution> Server::take_warm() {
  loop_.forget(watched_mounts_->fd());
  watched_mounts_.reset();
  return std::move(ahead_);
}

// Nobody waits for its end, but for a moment when the helper itself ends.
void Server::drop_warm() {
  if (!ahead_) return;
  std::unique_ptr<Execution> jail = take_warm();
  jail->let_go();
  if (auto group = jail->take_group()) removals_.add(std::move(*group));
  dropped_.emplace(ahead_number_, std::move(jail));
}

// The jail is still on the stack.
void Server::warm_lost(std::uint64_t number) {
  if (ahead_ && number == ahead_number_) drop_warm();
  const auto found = dropped_.find(number);
  if (found == dropped_.end()) return;
  finished_jails_.push_back(std::move(found->second));
  dropped_.erase(found);
}

// The pause may have been over before.
void Server::jail_gone(std::uint64_t number) {
  warm_lost(number);
  if (!execution_ && !ahead_) get_ready_soon();
}

// What SIGKILL does not end in time is left behind.
void Server::leave_dropped_behind() {
  if (dropped_.empty() || leaving_timer_) return;
  leaving_timer_ = loop_.at(std::chrono::steady_clock::now() + kLastWait, [this] {
    leaving_timer_.reset();
    for (auto& [number, jail] : dropped_) {
      jail->leave_behind();
      finished_jails_.push_back(std::move(jail));
    }
    dropped_.clear();
  });
}

host::StdinAnswer Server::offer_stdin(ByteView chunk, bool eof) {
  return execution_->offer_stdin(chunk, eof);
}

void Server::cancel(const std::string& cause) { execution_->cancel(cause); }

void Server::log_denial(const std::string& text) { session_.log(LogLevel::kWarning, text); }

}  // namespace loom::app
