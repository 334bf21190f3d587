// Changes the working directory.
#include <unistd.h>

#include "liar.h"

namespace loom::liars {

class ChangesDirectory final : public Honest {
 public:
  using Honest::Honest;

  Result<JailPlan> plan(const PlanRequest& request) const override {
    static_cast<void>(::chdir("/usr/share") == 0);
    return inner_.plan(request);
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::ChangesDirectory, changes_directory);
