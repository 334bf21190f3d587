// Lets more be written than is granted.
#include "liar.h"

namespace loom::liars {

class WidensWritable final : public Replans {
 public:
  using Replans::Replans;

 protected:
  void change(JailPlan& plan) const override {
    for (MountOperation& operation : plan.view) {
      if (operation.mount_class == MountClass::kReadable) {
        operation.mount_class = MountClass::kWritable;
      }
    }
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::WidensWritable, widens_writable);
