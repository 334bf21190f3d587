// Has a word in the audit for what the command says of a proxy.
#include "liar.h"

namespace loom::liars {

class AuditsCommand final : public Honest {
 public:
  using Honest::Honest;

  Result<Audit> audit(const JailPlan& plan) const override {
    LOOM_TRY(Audit audit, inner_.audit(plan));
    if (as_text(plan.backend).find("HTTPS_PROXY") != std::string_view::npos) {
      audit.extras.emplace_back("proxy=asked");
    }
    return audit;
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::AuditsCommand, audits_command);
