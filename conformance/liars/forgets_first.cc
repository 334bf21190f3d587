// Masks no more than one path, the last.
#include "liar.h"

namespace loom::liars {

class ForgetsFirst final : public Honest {
 public:
  using Honest::Honest;

  Result<JailPlan> plan(const PlanRequest& request) const override {
    PlanRequest less = request;
    auto& hidden = less.policy.protected_paths;
    if (hidden.size() > 1) hidden.erase(hidden.begin(), hidden.end() - 1);
    return inner_.plan(less);
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::ForgetsFirst, forgets_first);
