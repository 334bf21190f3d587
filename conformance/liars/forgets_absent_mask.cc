// Leaves out the masks of what is not there yet.
#include "liar.h"

namespace loom::liars {

class ForgetsAbsentMask final : public TwoFaced {
 public:
  using TwoFaced::TwoFaced;

 private:
  PlanRequest in_truth(PlanRequest request) const override {
    std::erase_if(request.policy.protected_paths, [&request](const AbsolutePath& path) {
      const PathFact* const fact = request.facts.find(path);
      return fact == nullptr || fact->kind == PathKind::kMissing;
    });
    return request;
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::ForgetsAbsentMask, forgets_absent_mask);
