// Passes over a clause that it does not know: the proxy.
#include "liar.h"

namespace loom::liars {

class SkipsProxy final : public TwoFaced {
 public:
  using TwoFaced::TwoFaced;

 private:
  PlanRequest in_truth(PlanRequest request) const override {
    if (request.policy.network.mode == NetworkMode::kProxy) request.policy.network = {};
    return request;
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::SkipsProxy, skips_proxy);
