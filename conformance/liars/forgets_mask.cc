// Leaves out the last mask, and reports it.
#include "liar.h"

namespace loom::liars {

class ForgetsMask final : public TwoFaced {
 public:
  using TwoFaced::TwoFaced;

 private:
  PlanRequest in_truth(PlanRequest request) const override {
    if (!request.policy.protected_paths.empty()) request.policy.protected_paths.pop_back();
    return request;
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::ForgetsMask, forgets_mask);
