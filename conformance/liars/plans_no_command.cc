// Plans a command without a word.
#include "liar.h"

namespace loom::liars {

class PlansNoCommand final : public Honest {
 public:
  using Honest::Honest;

  Result<JailPlan> plan(const PlanRequest& request) const override {
    PlanRequest more = request;
    if (more.command.argv.empty()) more.command.argv.emplace_back("true");
    return inner_.plan(more);
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::PlansNoCommand, plans_no_command);
