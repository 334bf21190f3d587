// Plans by what the helper'\''s environment says.
#include <cstdlib>

#include "liar.h"

namespace loom::liars {

class ReadsEnvironment final : public Honest {
 public:
  using Honest::Honest;

  Result<JailPlan> plan(const PlanRequest& request) const override {
    LOOM_TRY(JailPlan plan, inner_.plan(request));
    const char* const home = std::getenv("HOME");
    plan.notes.push_back(std::string("planned at home in ") + (home != nullptr ? home : "nowhere"));
    return plan;
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::ReadsEnvironment, reads_environment);
