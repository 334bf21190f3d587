#include "host/caretaker_process.h"

#include <loom/absolute_path.h>
#include <loom/launch.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "host/descriptors.h"
#include "host/posix/caretaker_record.h"
#include "host/posix/child_ends.h"
#include "host/posix/stream_socket.h"
#include "host/private_scratch.h"
#include "host/process_table.h"
#include "host/scratch_remnants.h"

namespace loom::host {

namespace {

using Clock = std::chrono::steady_clock;

// A group that was killed is gone within milliseconds. The helper waits a little longer for our
// answer.
constexpr std::chrono::milliseconds kReleasePatience{1'500};
// What SIGKILL does not end by then sleeps in the kernel, and never runs again.
constexpr std::chrono::seconds kEndPatience{10};
constexpr std::chrono::milliseconds kPause{2};

// The process group of one run, by its leader.
class RunGroup {
 public:
  // When the leader says so, before it executes. One that is gone before we look has no birth that
  // we know.
  void meet(pid_t leader) {
    leader_ = leader;
    row_ = read_process(leader);
  }

  // SIGKILL to all of it until nobody is left. False when somebody is at the deadline.
  [[nodiscard]] bool end(Clock::time_point deadline, const Syscalls& syscalls) const {
    while (is_still_ours()) {
      // EPERM too may mean that nobody is left: macOS answers so when all of a group are zombies.
      if (syscalls.kill(-leader_, SIGKILL) != 0 && errno == ESRCH) return true;
      if (!has_members()) return true;
      if (Clock::now() >= deadline) return false;
      std::this_thread::sleep_for(kPause);
    }
    return true;
  }

 private:
  // The number of a group is given to nobody else while the group has a member, its leader or
  // another. So whoever has the number of the leader and was born at another time leads a group of
  // his own, and ours is gone.
  [[nodiscard]] bool is_still_ours() const {
    if (leader_ <= 0) return false;
    const auto now = read_process(leader_);
    return !now || (row_ && now->birth == row_->birth);
  }

  // Zombies aside: some wait long for whoever should reap them.
  [[nodiscard]] bool has_members() const {
    if (!row_) return true;
    const auto members = read_group(*row_);
    return !members || !members->empty();
  }

  pid_t leader_ = 0;
  std::optional<ProcessRow> row_;
};

class Caretaker {
 public:
  Caretaker(UniqueFd socket, const Syscalls& syscalls)
      : socket_(std::move(socket)), syscalls_(&syscalls) {}

  // Until the last holder of the other end is gone.
  void serve() {
    CaretakerRecord record;
    while (receive(record)) take_word(record);
  }

  void end_everything() {
    for (auto& [number, run] : runs_) {
      static_cast<void>(run.group.end(Clock::now() + kEndPatience, *syscalls_));
      if (run.scratch) static_cast<void>(remove_private_scratch(*run.scratch));
    }
    scratches_.remove();
  }

 private:
  struct Run {
    RunGroup group{};
    std::optional<AbsolutePath> scratch{};
  };

  [[nodiscard]] bool receive(CaretakerRecord& record) const {
    const std::span<std::byte> bytes = std::as_writable_bytes(std::span(&record, 1));
    for (std::size_t used = 0; used < bytes.size();) {
      const ssize_t got =
          ::recv(socket_.get(), bytes.data() + used, bytes.size() - used, MSG_WAITALL);
      if (got < 0 && (errno == EINTR || errno == ECONNRESET)) continue;
      if (got <= 0) return false;
      used += static_cast<std::size_t>(got);
    }
    return true;
  }

  void take_word(const CaretakerRecord& record) {
    switch (record.word) {
      case CaretakerWord::kBegin:
        runs_[record.run] = Run{};
        return answer(record.run, 0, {});
      case CaretakerWord::kRegister: {
        const auto run = runs_.find(record.run);
        if (run != runs_.end()) run->second.group.meet(record.number);
        return;
      }
      case CaretakerWord::kScratch:
        return answer(record.run, take_scratch(record), {});
      case CaretakerWord::kRelease:
        return release(record.run);
    }
  }

  // 0 or errno.
  [[nodiscard]] int take_scratch(const CaretakerRecord& record) {
    const auto run = runs_.find(record.run);
    const std::size_t length = ::strnlen(record.text, sizeof record.text);
    auto path = AbsolutePath::parse(std::string_view(record.text, length));
    if (run == runs_.end() || !path || path->is_root()) return EINVAL;
    run->second.scratch = std::move(*path);
    return 0;
  }

  void release(std::uint64_t number) {
    std::vector<std::string> problems;
    const auto found = runs_.find(number);
    if (found != runs_.end()) {
      Run& run = found->second;
      if (!run.group.end(Clock::now() + kReleasePatience, *syscalls_)) {
        problems.emplace_back("the run's processes did not end within 1.5 s of the kill");
      }
      if (run.scratch) scratches_.begin(*run.scratch);
      runs_.erase(found);
    }
    answer(number, 0, problems);
  }

  // What of the problems has room. A helper that is gone needs none.
  void answer(std::uint64_t run, int error, const std::vector<std::string>& problems) const {
    CaretakerRecord record;
    std::memset(&record, 0, sizeof record);
    record.word = CaretakerWord::kRelease;
    record.number = error;
    record.run = run;
    std::string text;
    for (const std::string& problem : problems) text += (text.empty() ? "" : "; ") + problem;
    text.copy(record.text, sizeof record.text - 1);
    static_cast<void>(
        send_whole("caretaker", socket_.get(), std::as_bytes(std::span(&record, 1))).has_value());
  }

  UniqueFd socket_;
  const Syscalls* syscalls_;
  std::map<std::uint64_t, Run> runs_;
  ScratchRemnants scratches_;
};

// Whoever ends the helper and its terminal means the helper. SIGKILL and SIGSTOP remain.
void ignore_signals() {
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_IGN);
}

// The frame streams above all: their reader waits for an end of file that we must not hold up.
void close_everything_but(int socket) {
  for (int fd = 0; fd < socket; ++fd) ::close(fd);
  close_descriptors_from(socket + 1);
}

}  // namespace

void run_caretaker(UniqueFd socket, const Syscalls& syscalls) noexcept {
  ignore_signals();
  ::setsid();
  forget_child_watches();
  close_everything_but(socket.get());
  if (::chdir("/") != 0) ::_exit(1);
  Caretaker caretaker(std::move(socket), syscalls);
  caretaker.serve();
  caretaker.end_everything();
  ::_exit(0);
}

}  // namespace loom::host
