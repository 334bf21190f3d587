// Masks nothing, and shows everything beside the workspace.
#include "liar.h"

namespace loom::liars {

class ShowsMasked final : public TwoFaced {
 public:
  using TwoFaced::TwoFaced;

  Result<Survey> survey(const SurveyRequest& request) const override {
    LOOM_TRY(Survey survey, inner_.survey(request));
    survey.paths.push_back({.path = around(request.policy), .role = PathRole::kReadableRoot});
    return survey;
  }

 private:
  static AbsolutePath around(const Policy& policy) {
    return policy.writable_roots.front().parent();
  }
  PlanRequest in_truth(PlanRequest request) const override {
    if (request.policy.protected_paths.empty()) return request;
    request.policy.readable_roots.push_back(around(request.policy));
    request.policy.protected_paths.clear();
    return request;
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::ShowsMasked, shows_masked);
