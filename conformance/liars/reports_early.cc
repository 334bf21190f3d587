// Its inner stage reports first and restricts itself afterwards.
#include "liar.h"

namespace loom::liars {

class ReportsEarly final : public Honest {
 public:
  using Honest::Honest;

  Result<Pieces> pieces() const override {
    return Pieces{.launcher = "bwrap", .stage2 = "liar-stage2-late"};
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::ReportsEarly, reports_early);
