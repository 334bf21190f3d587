#include "host/signal_queue.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>

#include "host/descriptors.h"
#include "host/errno_text.h"

namespace loom::host {

namespace {

// Static, as a signal handler has no argument. Stays open for good: a signal may come at any time.
volatile sig_atomic_t queue_end = -1;

// A full pipe holds more signals than anybody needs to see.
void queue_signal(int number) {
  const int saved = errno;
  const auto byte = static_cast<unsigned char>(number);
  if (queue_end >= 0) static_cast<void>(::write(queue_end, &byte, 1) == 1);
  errno = saved;
}

}  // namespace

// The last call gets the signals of all. The pipe's reader is whoever called; main ignores SIGPIPE.
Result<UniqueFd> queue_signals(std::initializer_list<int> signals) {
  LOOM_TRY(PipeEnds pipe, open_nonblocking_pipe());
  const int before = queue_end;
  queue_end = pipe.write_end.release();
  if (before >= 0) ::close(before);
  sigset_t queued;
  sigemptyset(&queued);
  struct sigaction action {};
  action.sa_handler = &queue_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  for (const int signal : signals) {
    struct sigaction inherited {};
    const bool ignored =
        ::sigaction(signal, nullptr, &inherited) == 0 && inherited.sa_handler == SIG_IGN;
    if (ignored) continue;
    if (::sigaction(signal, &action, nullptr) != 0) {
      const int error = errno;
      return fail(ErrorCode::kSystem, "sigaction: " + errno_text(error), error);
    }
    sigaddset(&queued, signal);
  }
  ::sigprocmask(SIG_UNBLOCK, &queued, nullptr);
  return std::move(pipe.read_end);
}

std::optional<int> take_queued_signal(int queue) noexcept {
  unsigned char number = 0;
  ssize_t got = -1;
  do {
    got = ::read(queue, &number, 1);
  } while (got < 0 && errno == EINTR);
  if (got != 1) return std::nullopt;
  return number;
}

}  // namespace loom::host
