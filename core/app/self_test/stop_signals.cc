#include "app/self_test/stop_signals.h"

#include <poll.h>
#include <signal.h>

#include "host/signal_queue.h"

namespace loom::app {

Result<StopSignals> StopSignals::open() {
  LOOM_TRY(UniqueFd fd, host::queue_signals({SIGINT, SIGTERM, SIGHUP, SIGQUIT}));
  return StopSignals(std::move(fd));
}

bool StopSignals::came() {
  if (host::take_queued_signal(fd_.get())) came_ = true;
  return came_;
}

void StopSignals::pause(std::chrono::milliseconds time) {
  if (came()) return;
  pollfd signals{.fd = fd_.get(), .events = POLLIN, .revents = 0};
  static_cast<void>(::poll(&signals, 1, static_cast<int>(time.count())));
}

}  // namespace loom::app
