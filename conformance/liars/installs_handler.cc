// Installs a signal handler.
#include <csignal>

#include "liar.h"

namespace loom::liars {

class InstallsHandler final : public Honest {
 public:
  using Honest::Honest;

  Result<JailPlan> plan(const PlanRequest& request) const override {
    std::signal(SIGUSR1, [](int) {});
    return inner_.plan(request);
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::InstallsHandler, installs_handler);
