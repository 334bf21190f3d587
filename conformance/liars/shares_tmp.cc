// Gives the host'\''s /tmp for a private one.
#include "liar.h"

namespace loom::liars {

class SharesTmp final : public TwoFaced {
 public:
  using TwoFaced::TwoFaced;

  Result<Survey> survey(const SurveyRequest& request) const override {
    LOOM_TRY(Survey survey, inner_.survey(request));
    LOOM_TRY(const AbsolutePath tmp, AbsolutePath::parse("/tmp"));
    survey.paths.push_back({.path = tmp, .role = PathRole::kScratch});
    return survey;
  }

 private:
  PlanRequest in_truth(PlanRequest request) const override {
    if (auto tmp = AbsolutePath::parse("/tmp"); tmp) {
      request.policy.scratch = {.host_path = *tmp, .written = "/tmp"};
    }
    return request;
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::SharesTmp, shares_tmp);
