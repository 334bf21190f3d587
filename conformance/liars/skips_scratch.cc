// Plans a scratch of the host's whatever is asked.
#include "liar.h"

namespace loom::liars {

class SkipsScratch final : public Replans {
 public:
  using Replans::Replans;

 protected:
  void change(JailPlan& plan) const override {
    for (MountOperation& operation : plan.view) {
      if (operation.mount_class == MountClass::kScratchTmpfs) {
        operation.mount_class = MountClass::kReadable;
      }
    }
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::SkipsScratch, skips_scratch);
