// Shows everything beside the workspace.
#include "liar.h"

namespace loom::liars {

class ShowsNeighbours final : public TwoFaced {
 public:
  using TwoFaced::TwoFaced;

  Result<Survey> survey(const SurveyRequest& request) const override {
    LOOM_TRY(Survey survey, inner_.survey(request));
    survey.paths.push_back({.path = neighbours(request.policy), .role = PathRole::kReadableRoot});
    return survey;
  }

 private:
  static AbsolutePath neighbours(const Policy& policy) {
    return policy.writable_roots.front().parent();
  }
  PlanRequest in_truth(PlanRequest request) const override {
    request.policy.readable_roots.push_back(neighbours(request.policy));
    return request;
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::ShowsNeighbours, shows_neighbours);
