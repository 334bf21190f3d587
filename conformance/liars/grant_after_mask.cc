// Grants what it has masked before, and audits nothing of it.
#include "liar.h"

namespace loom::liars {

class GrantAfterMask final : public Replans {
 public:
  using Replans::Replans;

 protected:
  void change(JailPlan& plan) const override {
    if (!plan.to_make.empty()) return;
    for (const MountOperation& operation : std::vector<MountOperation>(plan.view)) {
      if (operation.mount_class != MountClass::kProtected) continue;
      MountOperation grant = operation;
      grant.mount_class = MountClass::kReadable;
      grant.form = MountForm::kReadOnlyBind;
      plan.view.push_back(std::move(grant));
    }
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::GrantAfterMask, grant_after_mask);
