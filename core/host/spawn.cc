#include "host/spawn.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>

#include "host/errno_text.h"

namespace loom::host {

namespace {

// The child calls a dozen functions, none deep, none recursive; measured use is under 1 KiB.
constexpr std::size_t kChildStackBytes = 64u << 10;
// For a child that was held, from the opening of its gate to its exec.
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

class AllSignalsBlocked {
 public:
  AllSignalsBlocked() noexcept {
    sigset_t all;
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, &before_);
  }
  ~AllSignalsBlocked() noexcept { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked(AllSignalsBlocked&&) = delete;
  AllSignalsBlocked& operator=(AllSignalsBlocked&&) = delete;

 private:
  sigset_t before_{};
};

// The one place that makes processes.
//
// The child borrows our memory until it executes, on a stack of its own, while we stand still
// (CLONE_VM and CLONE_VFORK, as posix_spawn does): nothing is copied, so the cost does not grow
// with the helper. That is safe because the child only reads plain data and makes system calls,
// signals stay blocked until no handler of ours is left in it, and descriptors, directory, limits
// and dispositions are its own copies. What it does write is errno, which nobody reads across this
// call.
//
// A gated child has a copy instead. The kernel kills everybody who shares the memory of a process
// that meets its group's memory ceiling, and a child that executes in such a group may.
Result<SpawnedChild> make_child(ChildSpec& spec, const Syscalls& syscalls) {
  alignas(64) static std::array<std::byte, kChildStackBytes> stack;
  const int flags = (spec.gate < 0 ? CLONE_VM | CLONE_VFORK : 0) | CLONE_PIDFD | SIGCHLD;
  int pidfd = -1;
  pid_t pid = -1;
  int error = 0;
  {
    const AllSignalsBlocked blocked;
    pid = syscalls.clone(&child_entry, stack.data() + stack.size(), flags, &spec, &pidfd);
    error = errno;
  }
  if (pid < 0) return step_failed("fork", error);
  SpawnedChild child;
  child.pid = pid;
  child.pidfd.reset(pidfd);
  return child;
}

// Does not wait: we stand still until the child is past the last step that can fail (the kernel
// lets go of us when the old memory is left behind; what breaks after that kills the child), or has
// written and is gone.
Result<std::optional<ChildFailure>> read_failure(int report) {
  ChildFailure failure{};
  ssize_t got = -1;
  do {
    got = ::read(report, &failure, sizeof failure);
  } while (got < 0 && errno == EINTR);
  if (got < 0 && errno == EAGAIN) return std::optional<ChildFailure>();
  if (got < 0) return step_failed("read the child's report", errno);
  if (got != sizeof failure) return std::optional<ChildFailure>();
  return std::optional(failure);
}

// The same for a child that was held: its end of the pipe closes when it executes or exits. One
// that does neither was stopped, or its group frozen, by somebody else.
bool report_comes(int report) {
  const auto deadline = std::chrono::steady_clock::now() + kHeldPatience;
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd end{.fd = report, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&end, 1, std::max(0, static_cast<int>(left.count())));
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

struct Gate {
  UniqueFd waits;
  UniqueFd opens;

  static Result<Gate> make(Lifted& lifted) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return step_failed("make the start gate", errno);
    Gate gate{.waits = UniqueFd(ends[0]), .opens = UniqueFd(ends[1])};
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
  pollfd end{.fd = child.pidfd.get(), .events = POLLIN, .revents = 0};
  static_cast<void>(::poll(&end, 1, patience_ms));
  ::waitpid(child.pid, nullptr, WNOHANG);
}

int highest_target(const SpawnRequest& request) noexcept {
  int highest = 2;
  for (const auto& move : request.moves) highest = std::max(highest, move.to);
  return highest;
}

}  // namespace

Result<SpawnedChild> spawn(const SpawnRequest& request, const Syscalls& syscalls) {
  LOOM_TRY_VOID(check(request));
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    return step_failed("make the report pipe", errno);
  }
  const UniqueFd report(ends[0]);
  UniqueFd child_end(ends[1]);

  Lifted lifted(highest_target(request));
  LOOM_TRY(const std::vector<FdMove> moves, lifted_moves(request.moves, lifted));
  LOOM_TRY_VOID(lifted.raise(child_end));
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
                 .caretaker = request.caretaker,
                 .run = request.run,
                 .parent = ::getpid(),
                 .die_with_parent = request.die_with_parent,
                 .report_fd = child_end.get()};

  LOOM_TRY(SpawnedChild child, make_child(spec, syscalls));
  if (request.while_held) {
    child_end.reset();
    request.while_held(child.pid);
    if (!gate.open() || !report_comes(report.get())) {
      end_child(child);
      return fail(
          ErrorCode::kSystem,
          "start a process: it did not leave its start gate; was it stopped, or its control "
          "group frozen?");
    }
  }
  LOOM_TRY(child.failure, read_failure(report.get()));
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
