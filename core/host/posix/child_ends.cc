#include "host/posix/child_ends.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>

#include "host/descriptors.h"
#include "host/errno_text.h"

namespace loom::host {

namespace {

// A helper has a caretaker and a handful of children at once.
constexpr std::size_t kMostWatched = 64;

struct Watch {
  volatile sig_atomic_t write_end = -1;  // -1: free. All that the handler reads
  int read_end = -1;                     // somebody else's, who may have closed it
  pid_t child = 0;
};

// Static, as a signal handler has no argument.
std::array<Watch, kMostWatched> watches;

// Security: nothing but write(2) and poll(2), both async-signal-safe. A pipe that is full says what
// there is to say already; one that nobody reads any more must not raise SIGPIPE.
void note_child_end(int) {
  const int saved = errno;
  for (const Watch& watch : watches) {
    const int end = watch.write_end;
    if (end < 0) continue;
    pollfd reader{.fd = end, .events = POLLOUT, .revents = 0};
    if (::poll(&reader, 1, 0) != 1 || (reader.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0) {
      continue;
    }
    static_cast<void>(::write(end, "", 1) == 1);
  }
  errno = saved;
}

bool take_over_sigchld() noexcept {
  static const bool taken = [] {
    struct sigaction action {};
    action.sa_handler = &note_child_end;
    sigemptyset(&action.sa_mask);
    // A child that was stopped has not ended.
    action.sa_flags = SA_RESTART | SA_NOCLDSTOP;
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, SIGCHLD);
    return ::sigaction(SIGCHLD, &action, nullptr) == 0 &&
           ::sigprocmask(SIG_UNBLOCK, &only, nullptr) == 0;
  }();
  return taken;
}

void release(Watch& watch) noexcept {
  const int end = watch.write_end;
  watch.write_end = -1;
  watch.child = 0;
  watch.read_end = -1;
  if (end >= 0) ::close(end);
}

// Whose holder has closed the reading end, or let it become another's.
bool is_abandoned(const Watch& watch) noexcept {
  pollfd reader{.fd = watch.write_end, .events = POLLOUT, .revents = 0};
  return ::poll(&reader, 1, 0) == 1 && (reader.revents & (POLLERR | POLLHUP)) != 0;
}

Watch* free_watch() noexcept {
  Watch* found = nullptr;
  for (Watch& watch : watches) {
    if (watch.write_end >= 0 && is_abandoned(watch)) release(watch);
    if (watch.write_end < 0 && found == nullptr) found = &watch;
  }
  return found;
}

// A number that was closed may be another watch's by now, hence the check of both ends.
Watch* find(int read_end) noexcept {
  for (Watch& watch : watches) {
    if (watch.write_end >= 0 && watch.read_end == read_end && !is_abandoned(watch)) return &watch;
  }
  return nullptr;
}

}  // namespace

Result<UniqueFd> watch_child_end() {
  if (!take_over_sigchld()) {
    const int error = errno;
    return fail(ErrorCode::kSystem, "SIGCHLD: " + errno_text(error), error);
  }
  Watch* const watch = free_watch();
  if (watch == nullptr) return fail(ErrorCode::kSystem, "too many processes to watch", EAGAIN);
  LOOM_TRY(PipeEnds pipe, open_nonblocking_pipe());
  watch->read_end = pipe.read_end.get();
  watch->child = 0;
  watch->write_end = pipe.write_end.release();
  return std::move(pipe.read_end);
}

void name_watched_child(int read_end, pid_t child) noexcept {
  if (Watch* const watch = find(read_end)) watch->child = child;
}

std::optional<pid_t> watched_child(int read_end) noexcept {
  const Watch* const watch = find(read_end);
  return watch != nullptr && watch->child > 0 ? std::optional(watch->child) : std::nullopt;
}

void drain_child_watch(int read_end) noexcept {
  std::array<char, 64> bytes;
  while (::read(read_end, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size())) {
  }
}

void rearm_child_watch(int read_end) noexcept {
  if (const Watch* const watch = find(read_end)) {
    static_cast<void>(::write(watch->write_end, "", 1) == 1);
  }
}

void end_child_watch(int read_end) noexcept {
  if (Watch* const watch = find(read_end)) release(*watch);
}

void forget_child_watches() noexcept {
  for (Watch& watch : watches) release(watch);
}

}  // namespace loom::host
