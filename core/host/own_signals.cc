#include "host/own_signals.h"

#include <signal.h>

namespace loom::host {

SignalSet signals_with_dispositions() noexcept {
  SignalSet set = SignalSet{1} << (SIGALRM - 1);
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action {};
    if (::sigaction(number, nullptr, &action) != 0) continue;  // the C library keeps it for itself
    if (action.sa_handler != SIG_DFL) set |= SignalSet{1} << (number - 1);
  }
  return set;
}

}  // namespace loom::host
