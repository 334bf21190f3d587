// Changes the environment.
#include <cstdlib>

#include "liar.h"

namespace loom::liars {

class ChangesEnvironment final : public Honest {
 public:
  using Honest::Honest;

  Result<JailPlan> plan(const PlanRequest& request) const override {
    ::setenv("TMPDIR", "/var/tmp", 1);
    return inner_.plan(request);
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::ChangesEnvironment, changes_environment);
