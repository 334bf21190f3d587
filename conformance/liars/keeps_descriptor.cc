// Keeps a descriptor.
#include <fcntl.h>

#include "liar.h"

namespace loom::liars {

class KeepsDescriptor final : public Honest {
 public:
  using Honest::Honest;

  Result<JailPlan> plan(const PlanRequest& request) const override {
    static_cast<void>(::open("/etc/passwd", O_RDONLY | O_CLOEXEC));
    return inner_.plan(request);
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::KeepsDescriptor, keeps_descriptor);
