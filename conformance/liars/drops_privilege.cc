// Restricts the helper itself.
#include <sys/prctl.h>

#include "liar.h"

namespace loom::liars {

class DropsPrivilege final : public Honest {
 public:
  using Honest::Honest;

  Result<JailPlan> plan(const PlanRequest& request) const override {
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    return inner_.plan(request);
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::DropsPrivilege, drops_privilege);
