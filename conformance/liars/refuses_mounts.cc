// Refuses every mount, and does not say what.
#include "liar.h"

namespace loom::liars {

class RefusesMounts final : public Honest {
 public:
  using Honest::Honest;

  Result<JailPlan> plan(const PlanRequest& request) const override {
    if (!request.policy.mounts.empty()) return fail(ErrorCode::kDenied, "not like this");
    return inner_.plan(request);
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::RefusesMounts, refuses_mounts);
