// Claims a jail that nothing inside has witnessed.
#include "liar.h"

namespace loom::liars {

class ClaimsUnwitnessed final : public Honest {
 public:
  using Honest::Honest;

  Result<Audit> audit(const JailPlan& plan) const override {
    LOOM_TRY(Audit audit, inner_.audit(plan));
    audit.when_silent = audit.when_witnessed;
    return audit;
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::ClaimsUnwitnessed, claims_unwitnessed);
