#include "host/spawn.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "host/descriptors.h"
#include "host/errno_text.h"
#include "host/exit_status.h"
#include "host/make_child.h"

namespace loom::host {

namespace {

// For a child that is waited for, from the opening of its gate, or its fork, to its exec.
constexpr std::chrono::seconds kHeldPatience{5};

tl::unexpected<Error> step_failed(const char* step, int error) {
  return fail(ErrorCode::kSystem,
              std::string("start a process: ") + step + ": " + errno_text(error), error);
}

bool holds_nul(const std::string& word) noexcept { return word.find('\0') != std::string::npos; }

Result<void> check(const SpawnRequest& request) {
  const auto cut = [](const std::vector<std::string>& words) {
    return std::any_of(words.begin(), words.end(), holds_nul);
  };
  if (cut(request.argv) || cut(request.environment) || cut(request.candidates) ||
      holds_nul(request.directory)) {
    return fail(ErrorCode::kInvalidRequest, "start a process: a word holds a NUL");
  }
  return {};
}

// NULL-terminated; borrows the strings. The kernel does not write through these pointers.
std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> result;
  result.reserve(words.size() + 1);
  for (const auto& word : words) result.push_back(const_cast<char*>(word.c_str()));
  result.push_back(nullptr);
  return result;
}

// Descriptors in numbers that no move can overwrite.
class Lifted {
 public:
  explicit Lifted(int highest_target) : floor_(highest_target + 1) {}

  // Replaces `fd` by a copy when it is too low.
  Result<void> raise(UniqueFd& fd) const {
    if (fd.get() >= floor_) return {};
    const int copy = ::fcntl(fd.get(), F_DUPFD_CLOEXEC, floor_);
    if (copy < 0) return step_failed("copy a descriptor", errno);
    fd.reset(copy);
    return {};
  }

  // `fd` itself when it is high enough, else a copy that lives as long as this object.
  Result<int> lift(int fd) {
    if (fd >= floor_) return fd;
    UniqueFd copy(::fcntl(fd, F_DUPFD_CLOEXEC, floor_));
    if (!copy) return step_failed("copy a descriptor", errno);
    copies_.push_back(std::move(copy));
    return copies_.back().get();
  }

 private:
  int floor_;
  std::vector<UniqueFd> copies_;
};

Result<std::vector<FdMove>> lifted_moves(std::vector<FdMove> moves, Lifted& lifted) {
  std::sort(moves.begin(), moves.end(), [](auto a, auto b) { return a.to < b.to; });
  const auto twice =
      std::adjacent_find(moves.begin(), moves.end(), [](auto a, auto b) { return a.to == b.to; });
  if (twice != moves.end() || (!moves.empty() && moves.front().to < 0)) {
    return fail(ErrorCode::kInvalidRequest, "start a process: a descriptor number is used twice");
  }
  for (auto& move : moves) {
    LOOM_TRY(move.from, lifted.lift(move.from));
  }
  return moves;
}

// Why a child did not execute. Not to be moved once a child was told of it.
class FailureReport {
 public:
  // `borrowed`: the child writes it into our memory.
  static Result<FailureReport> make(bool borrowed, const Lifted& lifted) {
    FailureReport report;
    report.borrowed_ = borrowed;
    if (borrowed) return report;
    auto pipe = open_nonblocking_pipe();
    if (!pipe) return step_failed("make the report pipe", pipe.error().sys_errno);
    report.reads_ = std::move(pipe->read_end);
    report.writes_ = std::move(pipe->write_end);
    LOOM_TRY_VOID(lifted.raise(report.writes_));
    return report;
  }

  void put_into(ChildSpec& spec) noexcept {
    spec.failure = borrowed_ ? &told_ : nullptr;
    spec.report_fd = writes_.get();
  }
  void leave_to_child() noexcept { writes_.reset(); }

  // The child's end of the pipe closes when it executes or exits. One that does neither was
  // stopped, or its group frozen, by somebody else.
  [[nodiscard]] bool comes() const {
    if (borrowed_) return true;
    const auto deadline = std::chrono::steady_clock::now() + kHeldPatience;
    for (;;) {
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
      pollfd end{.fd = reads_.get(), .events = POLLIN, .revents = 0};
      const int ready = ::poll(&end, 1, std::max(0, static_cast<int>(left.count())));
      if (ready > 0) return true;
      if (ready == 0 || errno != EINTR) return false;
    }
  }

  // Of a child that borrowed our memory: the kernel let go of us when that was left behind, past
  // the last step that can fail (what breaks after it kills the child).
  [[nodiscard]] Result<std::optional<ChildFailure>> read() const {
    if (borrowed_) return told_.step != ChildStep{} ? std::optional(told_) : std::nullopt;
    ChildFailure failure{};
    ssize_t got = -1;
    do {
      got = ::read(reads_.get(), &failure, sizeof failure);
    } while (got < 0 && errno == EINTR);
    if (got < 0) return step_failed("read the child's report", errno);
    return got == sizeof failure ? std::optional(failure) : std::nullopt;
  }

 private:
  bool borrowed_ = false;
  ChildFailure told_{};
  UniqueFd reads_;
  UniqueFd writes_;
};

struct Gate {
  UniqueFd waits;
  UniqueFd opens;

  static Result<Gate> make(Lifted& lifted) {
    auto pipe = open_pipe();
    if (!pipe) return step_failed("make the start gate", pipe.error().sys_errno);
    Gate gate{.waits = std::move(pipe->read_end), .opens = std::move(pipe->write_end)};
    LOOM_TRY_VOID(lifted.raise(gate.waits));
    LOOM_TRY_VOID(lifted.raise(gate.opens));
    return gate;
  }

  // Whether the child got its token. The gate's own reading end stays open until then, or a child
  // that is gone would end us with SIGPIPE.
  [[nodiscard]] bool open() noexcept {
    const bool opened = ::write(opens.get(), "\n", 1) == 1;
    opens.reset();
    waits.reset();
    return opened;
  }
};

// One that even SIGKILL does not reach (a v1 freezer, a device) is left behind, not waited for.
void end_child(const SpawnedChild& child) {
  constexpr int patience_ms = 1'000;
  ::kill(child.pid, SIGKILL);
  await_child_end(child, patience_ms);
  static_cast<void>(reap_if_ended(child.pidfd.get()).has_value());
}

int highest_target(const SpawnRequest& request) noexcept {
  int highest = 2;
  for (const auto& move : request.moves) highest = std::max(highest, move.to);
  return highest;
}

}  // namespace

Result<SpawnedChild> spawn(const SpawnRequest& request, const Syscalls& syscalls) {
  LOOM_TRY_VOID(check(request));
  Lifted lifted(highest_target(request));
  LOOM_TRY(FailureReport report,
           FailureReport::make(!request.while_held && child_borrows_memory(), lifted));
  LOOM_TRY(const std::vector<FdMove> moves, lifted_moves(request.moves, lifted));
  int image_fd = -1;
  if (request.image_fd >= 0) {
    LOOM_TRY(image_fd, lifted.lift(request.image_fd));
  }
  Gate gate;
  if (request.while_held) {
    LOOM_TRY(gate, Gate::make(lifted));
  }
  const auto candidates = pointers(request.candidates);
  const auto argv = pointers(request.argv);
  const auto envp = pointers(request.environment);
  ChildSpec spec{.gate = gate.waits.get(),
                 .gate_opener = gate.opens.get(),
                 .image_fd = image_fd,
                 .candidates = candidates.data(),
                 .argv = argv.data(),
                 .envp = envp.data(),
                 .directory = request.directory.c_str(),
                 .moves = moves.data(),
                 .move_count = moves.size(),
                 .limits = request.limits.data(),
                 .limit_count = request.limits.size(),
                 .signals = request.signals,
                 .caretaker = request.caretaker,
                 .run = request.run,
                 .parent = ::getpid(),
                 .die_with_parent = request.die_with_parent,
                 .failure = nullptr,
                 .report_fd = -1,
                 .highest_descriptor = -1};
  report.put_into(spec);

  LOOM_TRY(SpawnedChild child, make_child(spec, syscalls));
  report.leave_to_child();
  if (request.while_held) request.while_held(child.pid);
  const bool opened = !request.while_held || gate.open();
  if (!opened || !report.comes()) {
    end_child(child);
    return fail(ErrorCode::kSystem,
                request.while_held
                    ? "start a process: it did not leave its start gate; was it stopped, or its "
                      "control group frozen?"
                    : "start a process: it did not execute; was it stopped?");
  }
  LOOM_TRY(child.failure, report.read());
  return child;
}

const char* child_step_name(ChildStep step) noexcept {
  switch (step) {
    case ChildStep::kParentGone:
      return "stay with the parent";
    case ChildStep::kSession:
      return "start a session";
    case ChildStep::kRegister:
      return "register with the caretaker";
    case ChildStep::kSignals:
      return "reset signals";
    case ChildStep::kDescriptors:
      return "arrange descriptors";
    case ChildStep::kDirectory:
      return "enter the directory";
    case ChildStep::kLimits:
      return "set limits";
    case ChildStep::kExecute:
      return "execute";
  }
  return "unknown step";
}

}  // namespace loom::host
