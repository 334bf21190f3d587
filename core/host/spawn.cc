#include "host/spawn.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>

#include "host/errno_text.h"

namespace loom::host {

namespace {

// The child calls a dozen functions, none deep, none recursive; measured use is under 1 KiB.
constexpr std::size_t kChildStackBytes = 64u << 10;

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
Result<SpawnedChild> make_child(ChildSpec& spec, const Syscalls& syscalls) {
  alignas(64) static std::array<std::byte, kChildStackBytes> stack;
  constexpr int flags = CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD;
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
  const UniqueFd child_end(ends[1]);

  Lifted lifted(highest_target(request));
  LOOM_TRY(const std::vector<FdMove> moves, lifted_moves(request.moves, lifted));
  LOOM_TRY(const int report_fd, lifted.lift(child_end.get()));
  int image_fd = -1;
  if (request.image_fd >= 0) {
    LOOM_TRY(image_fd, lifted.lift(request.image_fd));
  }
  const auto candidates = pointers(request.candidates);
  const auto argv = pointers(request.argv);
  const auto envp = pointers(request.environment);
  ChildSpec spec{.image_fd = image_fd,
                 .candidates = candidates.data(),
                 .argv = argv.data(),
                 .envp = envp.data(),
                 .directory = request.directory.c_str(),
                 .moves = moves.data(),
                 .move_count = moves.size(),
                 .limits = request.limits.data(),
                 .limit_count = request.limits.size(),
                 .parent = ::getpid(),
                 .die_with_parent = request.die_with_parent,
                 .report_fd = report_fd};

  LOOM_TRY(SpawnedChild child, make_child(spec, syscalls));
  LOOM_TRY(child.failure, read_failure(report.get()));
  return child;
}

const char* child_step_name(ChildStep step) noexcept {
  switch (step) {
    case ChildStep::kParentGone:
      return "stay with the parent";
    case ChildStep::kSession:
      return "start a session";
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
