// Makes something of the order of a list.
#include "liar.h"

namespace loom::liars {

class OrdersLists final : public Honest {
 public:
  using Honest::Honest;

  Result<JailPlan> plan(const PlanRequest& request) const override {
    LOOM_TRY(JailPlan plan, inner_.plan(request));
    if (!request.policy.writable_roots.empty()) {
      plan.canonical_argv.push_back("--first=" + request.policy.writable_roots.front().str());
    }
    return plan;
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::OrdersLists, orders_lists);
