// Passes over the denial of UNIX sockets.
#include "liar.h"

namespace loom::liars {

class AllowsUnixSockets final : public TwoFaced {
 public:
  using TwoFaced::TwoFaced;

 private:
  PlanRequest in_truth(PlanRequest request) const override {
    request.deny_unix_sockets = false;
    return request;
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::AllowsUnixSockets, allows_unix_sockets);
