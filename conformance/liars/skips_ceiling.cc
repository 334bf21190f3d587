// Drops the memory ceiling from the launch.
#include "liar.h"

namespace loom::liars {

class SkipsCeiling final : public Honest {
 public:
  using Honest::Honest;

  Result<LaunchSpec> render(const JailPlan& plan) const override {
    LOOM_TRY(LaunchSpec launch, inner_.render(plan));
    launch.ceilings = {};
    return launch;
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::SkipsCeiling, skips_ceiling);
