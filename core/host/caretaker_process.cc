#include "host/caretaker_process.h"

#include <fcntl.h>
#include <loom/bytes.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "host/caretaker_codec.h"
#include "host/caretaker_message.h"
#include "host/held_names.h"
#include "host/launched_jail.h"
#include "host/packet_socket.h"
#include "host/private_scratch.h"
#include "host/scratch_remnants.h"

namespace loom::host {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// A jail that its helper has killed is gone within milliseconds. The helper waits a little longer
// for our answer.
constexpr milliseconds kReleasePatience{1'500};
// What SIGKILL does not end by then sleeps in the kernel, and never runs again.
constexpr std::chrono::seconds kEndPatience{10};
// For a lock that may be nobody's any more: after it the name is left to whoever has it locked.
constexpr milliseconds kLockPatience{1'000};
// The part of it that a release waits for, where no run seems to need the name.
constexpr milliseconds kPromptPatience{50};
constexpr milliseconds kFirstPause{2};
constexpr milliseconds kLongestPause{128};

// A descriptor that a command left in transit between sockets which nobody has open any more keeps
// its lock until the kernel looks for such descriptors. It does when a socket is closed, and closes
// them a moment later.
void collect_lost_descriptors() { static_cast<void>(make_packet_pair("caretaker").has_value()); }

// A placeholder that cannot be listed for want of a descriptor looks like something else.
bool may_lack_descriptors(const Error& error) {
  return error.sys_errno == EMFILE || error.code == ErrorCode::kDenied;
}

class Caretaker {
 public:
  Caretaker(UniqueFd socket, mode_t creation_mask, const Syscalls& syscalls)
      : socket_(std::move(socket)), creation_mask_(creation_mask), syscalls_(syscalls) {}

  // Until the last holder of the other end is gone.
  void serve() {
    for (;;) {
      if (!waiting_.empty() && Clock::now() >= next_try_) try_again();
      if (!await_packet()) continue;
      auto received = receive_packet("caretaker", socket_.get(), kMaxCaretakerMessage, 0);
      if (!received && received.error().code == ErrorCode::kInvalidRequest) continue;
      if (!received || !*received || (*received)->closed) return;
      take(std::move(**received));
    }
  }

  void end_everything() {
    for (auto& [number, run] : runs_) {
      static_cast<void>(run.jail.kill_and_await(Clock::now() + kEndPatience));
      if (run.names) static_cast<void>(remove(std::move(*run.names)));
      if (run.scratch) static_cast<void>(remove_private_scratch(*run.scratch));
    }
    scratches_.remove();
    while (!waiting_.empty()) {
      std::this_thread::sleep_until(next_try_);
      try_again();
    }
  }

 private:
  struct Run {
    std::vector<WantedName> wanted{};  // until the list is complete
    std::optional<HeldNames> names{};
    std::optional<AbsolutePath> scratch{};
    LaunchedJail jail{};
  };
  // Of a run that is over: what somebody else had locked.
  struct Waiting {
    HeldNames names;
    Clock::time_point last_try;
  };

  // False when it is time to try again.
  [[nodiscard]] bool await_packet() const {
    pollfd one{.fd = socket_.get(), .events = POLLIN, .revents = 0};
    int patience_ms = -1;
    if (!waiting_.empty()) {
      const auto left = std::chrono::ceil<milliseconds>(next_try_ - Clock::now());
      patience_ms = std::max(0, static_cast<int>(left.count()));
    }
    return ::poll(&one, 1, patience_ms) > 0;
  }

  void take(Packet received) {
    ByteView rest = received.bytes;
    const auto head = take_head<CaretakerHead>(rest);
    if (!head) return;
    switch (head->verb) {
      case CaretakerVerb::kMake:
        return make(*head, rest);
      case CaretakerVerb::kRegister: {
        const auto run = runs_.find(head->run);
        if (run == runs_.end()) return;
        return run->second.jail.meet_launcher(received.sender.value_or(0),
                                              std::chrono::nanoseconds(head->registered_ns));
      }
      case CaretakerVerb::kProcessOne: {
        const auto run = runs_.find(head->run);
        if (run != runs_.end()) run->second.jail.meet_process_one(std::move(received.lent));
        return;
      }
      case CaretakerVerb::kView: {
        const auto run = runs_.find(head->run);
        if (run != runs_.end()) run->second.jail.meet_view(std::move(received.lent));
        return;
      }
      case CaretakerVerb::kScratch:
        return guard_scratch(head->run, rest);
      case CaretakerVerb::kRelease:
        return release(head->run);
    }
  }

  void guard_scratch(std::uint64_t number, ByteView text) {
    const auto run = runs_.find(number);
    auto path = AbsolutePath::parse(as_text(text));
    if (run == runs_.end() || !path || path->is_root()) {
      return answer(
          {.run = number, .more = 0, .failed = 1},
          encode_error({.code = ErrorCode::kInvalidRequest, .message = "caretaker: no scratch"}));
    }
    run->second.scratch = std::move(*path);
    answer({.run = number, .more = 0, .failed = 0}, {});
  }

  void make(const CaretakerHead& head, ByteView part) {
    Run& run = runs_[head.run];
    auto made = decode_names(part, run.wanted);
    if (made && head.more != 0) return;
    if (made) {
      auto names = HeldNames::take(run.wanted, creation_mask_, syscalls_);
      if (!names && may_lack_descriptors(names.error()) && !waiting_.empty()) {
        give_up();
        names = HeldNames::take(run.wanted, creation_mask_, syscalls_);
      }
      if (names) {
        leave_to(names->identities());
        run.names.emplace(std::move(*names));
        run.wanted.clear();
        return answer_identities(head.run, run.names->identities());
      }
      made = tl::unexpected(std::move(names).error());
    }
    runs_.erase(head.run);
    answer({.run = head.run, .more = 0, .failed = 1}, encode_error(made.error()));
  }

  void release(std::uint64_t number) {
    std::vector<std::string> problems;
    const auto found = runs_.find(number);
    if (found != runs_.end()) {
      problems = end(found->second);
      runs_.erase(found);
    }
    answer({.run = number, .more = waiting_.empty() ? 0u : 1u, .failed = 0},
           encode_texts(problems));
  }

  std::vector<std::string> end(Run& run) {
    std::vector<std::string> problems;
    if (!run.jail.await_end(Clock::now() + kReleasePatience)) {
      problems.emplace_back("the jail did not end within 1.5 s of the kill");
    }
    if (run.scratch) scratches_.begin(*run.scratch);
    if (!run.names) return problems;
    const std::size_t waited_before = waiting_.size();
    for (std::string& problem : remove(std::move(*run.names))) {
      problems.push_back(std::move(problem));
    }
    if (waiting_.size() > waited_before) await_prompt_end();
    return problems;
  }

  // What somebody else has locked is tried again for a while: by the loop, which keeps no helper
  // waiting for another helper's run.
  std::vector<std::string> remove(HeldNames names) {
    std::vector<std::string> problems = names.remove();
    if (names.is_waiting()) {
      waiting_.push_back({.names = std::move(names), .last_try = Clock::now() + kLockPatience});
      schedule(kFirstPause);
    }
    return problems;
  }

  void await_prompt_end() {
    const auto needless = [](const Waiting& one) { return one.names.waits_without_need(); };
    const auto deadline = Clock::now() + kPromptPatience;
    while (std::any_of(waiting_.begin(), waiting_.end(), needless) && next_try_ < deadline) {
      std::this_thread::sleep_until(next_try_);
      try_again();
    }
  }

  void try_again() {
    const auto now = Clock::now();
    std::erase_if(waiting_, [&](Waiting& one) {
      const bool last = now >= one.last_try;
      static_cast<void>(
          one.names.remove(last ? HeldNames::Attempt::kLast : HeldNames::Attempt::kMoreFollow));
      return !one.names.is_waiting();
    });
    if (!waiting_.empty()) schedule(std::min(2 * pause_, kLongestPause));
  }

  void schedule(milliseconds pause) {
    collect_lost_descriptors();
    pause_ = pause;
    next_try_ = Clock::now() + pause;
  }

  // Their descriptors are needed.
  void give_up() {
    for (Waiting& one : waiting_) {
      static_cast<void>(one.names.remove(HeldNames::Attempt::kLast));
    }
    waiting_.clear();
  }

  // A run that adopted a name sees to it at its own end.
  void leave_to(const std::vector<FileIdentity>& holder) {
    for (Waiting& one : waiting_) one.names.leave_to(holder);
    std::erase_if(waiting_, [](const Waiting& one) { return !one.names.is_waiting(); });
  }

  void answer_identities(std::uint64_t number, const std::vector<FileIdentity>& identities) {
    const std::vector<Bytes> parts = encode_identities(identities);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      answer({.run = number, .more = i + 1 < parts.size() ? 1u : 0u, .failed = 0}, parts[i]);
    }
  }

  // A helper that is gone needs none.
  void answer(const CaretakerAnswer& head, ByteView rest) {
    static_cast<void>(send_packet("caretaker", socket_.get(), head_bytes(head), rest).has_value());
  }

  UniqueFd socket_;
  mode_t creation_mask_;
  const Syscalls& syscalls_;
  std::map<std::uint64_t, Run> runs_;
  ScratchRemnants scratches_;
  std::vector<Waiting> waiting_;
  milliseconds pause_ = kFirstPause;
  Clock::time_point next_try_{};
};

// Whoever ends the helper and its terminal means the helper. SIGKILL and SIGSTOP remain.
void ignore_signals() {
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_IGN);
}

// The frame streams above all: their reader waits for an end of file that we must not hold up.
void close_everything_but(int socket) {
  const auto kept = static_cast<unsigned>(socket);
  const bool below = kept == 0 || ::close_range(0, kept - 1, 0) == 0;
  if (below && ::close_range(kept + 1, ~0u, 0) == 0) return;
  // Before kernel 5.9, or under a filter that does not know the call.
  const long limit = ::sysconf(_SC_OPEN_MAX);
  for (int fd = 0; fd < static_cast<int>(std::clamp(limit, 1'024L, 1'048'576L)); ++fd) {
    if (fd != socket) ::close(fd);
  }
}

// Fields 48 to 51 of proc_pid_stat(5): where the kernel shows a process's arguments and
// environment.
std::array<std::uintptr_t, 4> argument_areas() {
  std::array<std::uintptr_t, 4> areas{};
  std::array<char, 2'048> buffer;
  const UniqueFd file(::open("/proc/self/stat", O_RDONLY | O_CLOEXEC));
  const ssize_t got = file ? ::read(file.get(), buffer.data(), buffer.size()) : 0;
  if (got <= 0) return areas;
  std::string_view rest(buffer.data(), static_cast<std::size_t>(got));
  rest.remove_prefix(std::min(rest.rfind(')') + 1, rest.size()));
  for (int field = 3; field < 52 && !rest.empty(); ++field) {
    rest.remove_prefix(std::min(rest.find_first_not_of(" \n"), rest.size()));
    const std::size_t end = std::min(rest.find_first_of(" \n"), rest.size());
    if (field >= 48) {
      std::from_chars(rest.data(), rest.data() + end, areas[static_cast<std::size_t>(field - 48)]);
    }
    rest.remove_prefix(end);
  }
  return areas;
}

// What the helper was started with is not shown for longer than the helper lives, and `ps` says who
// this is. Our copy of that memory, nobody else's.
void take_own_name() {
  static constexpr std::string_view kName = "loom-exec: caretaker";
  ::prctl(PR_SET_NAME, "loom-caretaker");
  const auto [arguments, arguments_end, environment, environment_end] = argument_areas();
  char* const text = program_invocation_name;  // argv[0], where the area begins
  const bool known = arguments != 0 && reinterpret_cast<std::uintptr_t>(text) == arguments &&
                     arguments < arguments_end && arguments_end <= environment &&
                     environment <= environment_end;
  if (!known) return;
  std::memset(text, 0, arguments_end - arguments);
  kName.copy(text, std::min(arguments_end - arguments - 1, kName.size()));
  std::memset(text + (environment - arguments), 0, environment_end - environment);
}

}  // namespace

void run_caretaker(UniqueFd socket, const Syscalls& syscalls) noexcept {
  ignore_signals();
  ::setsid();
  ::prctl(PR_SET_DUMPABLE, 0);  // no core, whatever pattern it would go to
  close_everything_but(socket.get());
  const mode_t creation_mask = ::umask(0);  // placeholders are born with their mark
  if (::chdir("/") != 0) ::_exit(1);
  take_own_name();
  Caretaker caretaker(std::move(socket), creation_mask, syscalls);
  caretaker.serve();
  caretaker.end_everything();
  ::_exit(0);
}

}  // namespace loom::host
