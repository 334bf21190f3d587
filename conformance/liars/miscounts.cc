// Claims one mask more than there is.
#include "liar.h"

namespace loom::liars {

class Miscounts final : public Honest {
 public:
  using Honest::Honest;

  Result<Audit> audit(const JailPlan& plan) const override {
    LOOM_TRY(Audit audit, inner_.audit(plan));
    for (std::string& entry : audit.when_witnessed) {
      const std::size_t at = entry.find("mask=");
      if (at != std::string::npos) entry.insert(at + 5, 1, '9');
    }
    return audit;
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::Miscounts, miscounts);
