// Passes over explicit mounts.
#include "liar.h"

namespace loom::liars {

class SkipsMounts final : public Honest {
 public:
  using Honest::Honest;

  Result<JailPlan> plan(const PlanRequest& request) const override {
    PlanRequest less = request;
    less.policy.mounts.clear();
    return inner_.plan(less);
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::SkipsMounts, skips_mounts);
