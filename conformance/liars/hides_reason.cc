// Refuses without a reason.
#include "liar.h"

namespace loom::liars {

class HidesReason final : public Honest {
 public:
  using Honest::Honest;

  Result<JailPlan> plan(const PlanRequest& request) const override {
    auto plan = inner_.plan(request);
    if (plan) return plan;
    return fail(ErrorCode::kSystem, "no");
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::HidesReason, hides_reason);
