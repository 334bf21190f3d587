// Plans the same question another way each time.
#include "liar.h"

namespace loom::liars {

class UnsteadyPlan final : public Honest {
 public:
  using Honest::Honest;

  Result<JailPlan> plan(const PlanRequest& request) const override {
    LOOM_TRY(JailPlan plan, inner_.plan(request));
    plan.notes.push_back("plan number " + std::to_string(++plans_));
    return plan;
  }

 private:
  mutable int plans_ = 0;
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::UnsteadyPlan, unsteady_plan);
