// Writes to standard output.
#include <cstdio>

#include "liar.h"

namespace loom::liars {

class Prints final : public Honest {
 public:
  using Honest::Honest;

  Result<JailPlan> plan(const PlanRequest& request) const override {
    std::puts("planning");
    return inner_.plan(request);
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::Prints, prints);
