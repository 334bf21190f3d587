// Looks at the command before it plans.
#include "liar.h"

namespace loom::liars {

class RefusesCurl final : public Honest {
 public:
  using Honest::Honest;

  Result<JailPlan> plan(const PlanRequest& request) const override {
    if (request.command.argv.front() == "curl") {
      return fail(ErrorCode::kDenied, "curl: not without a network");
    }
    return inner_.plan(request);
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::RefusesCurl, refuses_curl);
