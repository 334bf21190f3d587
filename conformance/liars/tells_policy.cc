// Puts the policy where every process can read it.
#include "liar.h"

namespace loom::liars {

class TellsPolicy final : public Honest {
 public:
  using Honest::Honest;

  Result<LaunchSpec> render(const JailPlan& plan) const override {
    LOOM_TRY(LaunchSpec launch, inner_.render(plan));
    launch.environment.push_back("LOOM_PLAN=" + plan.digest);
    return launch;
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::TellsPolicy, tells_policy);
