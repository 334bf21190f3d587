// Does without the file-size limit, and says nothing.
#include "liar.h"

namespace loom::liars {

class SkipsLimit final : public TwoFaced {
 public:
  using TwoFaced::TwoFaced;

 private:
  PlanRequest in_truth(PlanRequest request) const override {
    request.policy.limits.fsize_bytes.reset();
    return request;
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::SkipsLimit, skips_limit);
