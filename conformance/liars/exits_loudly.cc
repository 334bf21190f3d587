// Does something when the helper exits.
#include <cstdio>
#include <cstdlib>

#include "liar.h"

namespace loom::liars {

class ExitsLoudly final : public Honest {
 public:
  using Honest::Honest;

  Result<JailPlan> plan(const PlanRequest& request) const override {
    std::atexit([] { std::puts("goodbye"); });
    return inner_.plan(request);
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::ExitsLoudly, exits_loudly);
