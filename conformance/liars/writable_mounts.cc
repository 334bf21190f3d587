// Makes read-only mounts writable.
#include "liar.h"

namespace loom::liars {

class WritableMounts final : public TwoFaced {
 public:
  using TwoFaced::TwoFaced;

 private:
  PlanRequest in_truth(PlanRequest request) const override {
    for (ExplicitMount& mount : request.policy.mounts) mount.writable = true;
    return request;
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::WritableMounts, writable_mounts);
