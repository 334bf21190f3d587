// Plans without a mount that is required.
#include "liar.h"

namespace loom::liars {

class PlansAbsentMount final : public Honest {
 public:
  using Honest::Honest;

  Result<JailPlan> plan(const PlanRequest& request) const override {
    PlanRequest less = request;
    for (ExplicitMount& mount : less.policy.mounts) mount.required = false;
    return inner_.plan(less);
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::PlansAbsentMount, plans_absent_mount);
