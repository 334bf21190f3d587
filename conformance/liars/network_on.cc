// Leaves the network on, and claims the filter. Without a launcher, since of a launcher's jail the
// helper itself looks whether the network is another one.
#include "liar.h"

namespace loom::liars {

class NetworkOn final : public TwoFaced {
 public:
  using TwoFaced::TwoFaced;

 private:
  PlanRequest in_truth(PlanRequest request) const override {
    request.policy.network = {};
    request.policy.network.mode = NetworkMode::kFull;
    request.facts.launcher = {.present = false, .path = {}, .reason = "a lie", .identity = {}};
    return request;
  }
  void embellish(Audit& audit) const override { audit.extras.emplace_back("seccomp-net"); }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::NetworkOn, network_on);
