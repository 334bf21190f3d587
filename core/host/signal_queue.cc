#include "host/signal_queue.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>

#include "host/errno_text.h"

namespace loom::host {

Result<UniqueFd> queue_signals(std::initializer_list<int> signals) {
  sigset_t queued;
  sigemptyset(&queued);
  for (const int signal : signals) {
    struct sigaction inherited {};
    const bool ignored =
        ::sigaction(signal, nullptr, &inherited) == 0 && inherited.sa_handler == SIG_IGN;
    if (!ignored) sigaddset(&queued, signal);
  }
  ::sigprocmask(SIG_BLOCK, &queued, nullptr);
  UniqueFd fd(::signalfd(-1, &queued, SFD_CLOEXEC | SFD_NONBLOCK));
  if (fd) return fd;
  const int error = errno;
  return fail(ErrorCode::kSystem, "signalfd: " + errno_text(error), error);
}

std::optional<int> take_queued_signal(int queue) noexcept {
  signalfd_siginfo info{};
  if (::read(queue, &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return std::nullopt;
  return static_cast<int>(info.ssi_signo);
}

}  // namespace loom::host
