// Makes readable roots writable.
#include "liar.h"

namespace loom::liars {

class WritableReadable final : public TwoFaced {
 public:
  using TwoFaced::TwoFaced;

 private:
  PlanRequest in_truth(PlanRequest request) const override {
    for (const AbsolutePath& root : request.policy.readable_roots) {
      request.policy.writable_roots.push_back(root);
    }
    request.policy.readable_roots.clear();
    return request;
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::WritableReadable, writable_readable);
