// Its inner stage stands between command and host, and loses what came last.
#include "liar.h"

namespace loom::liars {

class DropsOutput final : public Honest {
 public:
  using Honest::Honest;

  Result<Pieces> pieces() const override {
    return Pieces{.launcher = "bwrap", .stage2 = "liar-stage2-dropping"};
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::DropsOutput, drops_output);
