#include "app/self_test/stop_signals.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>

#include "host/errno_text.h"

namespace loom::app {

Result<StopSignals> StopSignals::open() {
  sigset_t stops;
  sigemptyset(&stops);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    struct sigaction inherited {};
    const bool ignored =
        ::sigaction(signal, nullptr, &inherited) == 0 && inherited.sa_handler == SIG_IGN;
    if (!ignored) sigaddset(&stops, signal);
  }
  ::sigprocmask(SIG_BLOCK, &stops, nullptr);
  UniqueFd fd(::signalfd(-1, &stops, SFD_CLOEXEC | SFD_NONBLOCK));
  if (fd) return StopSignals(std::move(fd));
  const int error = errno;
  return fail(ErrorCode::kSystem, "signalfd: " + host::errno_text(error), error);
}

bool StopSignals::came() {
  signalfd_siginfo info{};
  if (::read(fd_.get(), &info, sizeof info) > 0) came_ = true;
  return came_;
}

void StopSignals::pause(std::chrono::milliseconds time) {
  if (came()) return;
  pollfd signals{.fd = fd_.get(), .events = POLLIN, .revents = 0};
  static_cast<void>(::poll(&signals, 1, static_cast<int>(time.count())));
}

}  // namespace loom::app
