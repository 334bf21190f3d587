// Plans every run under a name of its own.
#include "liar.h"

namespace loom::liars {

class NotesNonce final : public Honest {
 public:
  using Honest::Honest;

  Result<JailPlan> plan(const PlanRequest& request) const override {
    LOOM_TRY(JailPlan plan, inner_.plan(request));
    plan.notes.push_back("run " + request.nonce);
    return plan;
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::NotesNonce, notes_nonce);
