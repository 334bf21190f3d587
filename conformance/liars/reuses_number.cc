// Wants one descriptor twice.
#include "liar.h"

namespace loom::liars {

class ReusesNumber final : public Honest {
 public:
  using Honest::Honest;

  Result<LaunchSpec> render(const JailPlan& plan) const override {
    LOOM_TRY(LaunchSpec launch, inner_.render(plan));
    launch.memory_files.push_back(launch.memory_files.front());
    return launch;
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::ReusesNumber, reuses_number);
