// Shows what nobody asked for.
#include "liar.h"

namespace loom::liars {

class ShowsMore final : public Honest {
 public:
  using Honest::Honest;

  Result<JailPlan> plan(const PlanRequest& request) const override {
    LOOM_TRY(JailPlan plan, inner_.plan(request));
    LOOM_TRY(const AbsolutePath home, AbsolutePath::parse("/home"));
    if (plan.view.empty()) return plan;
    plan.view.push_back({.mount_class = MountClass::kReadable,
                         .form = MountForm::kReadOnlyBindTry,
                         .region = home,
                         .written = home});
    return plan;
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::ShowsMore, shows_more);
