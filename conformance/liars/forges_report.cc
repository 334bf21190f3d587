// Its inner stage reports layers and puts none in force.
#include "liar.h"

namespace loom::liars {

class ForgesReport final : public Honest {
 public:
  using Honest::Honest;

  Result<Pieces> pieces() const override {
    return Pieces{.launcher = "bwrap", .stage2 = "liar-stage2-forging"};
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::ForgesReport, forges_report);
