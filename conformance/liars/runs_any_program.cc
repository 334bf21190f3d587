// Plans an exec table as if there were none.
#include "liar.h"

namespace loom::liars {

class RunsAnyProgram final : public Honest {
 public:
  using Honest::Honest;

  Result<JailPlan> plan(const PlanRequest& request) const override {
    PlanRequest less = request;
    less.exec.reset();
    less.policy.exec.reset();
    less.policy.version = 2;
    LOOM_TRY(JailPlan plan, inner_.plan(less));
    return plan;
  }
  Result<Features> features(const HostFacts& facts) const override {
    LOOM_TRY(Features features, inner_.features(facts));
    features.exec = ExecSupport::kNone;
    return features;
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::RunsAnyProgram, runs_any_program);
