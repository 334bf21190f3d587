// Claims a jail and runs without one.
#include "liar.h"

namespace loom::liars {

class BareJail final : public TwoFaced {
 public:
  using TwoFaced::TwoFaced;

 private:
  PlanRequest in_truth(PlanRequest request) const override {
    request.facts.launcher = {.present = false, .path = {}, .reason = "a lie", .identity = {}};
    return request;
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::BareJail, bare_jail);
