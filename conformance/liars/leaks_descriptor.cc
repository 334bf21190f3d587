// Its inner stage hands a descriptor to the command.
#include "liar.h"

namespace loom::liars {

class LeaksDescriptor final : public Honest {
 public:
  using Honest::Honest;

  Result<Pieces> pieces() const override {
    return Pieces{.launcher = "bwrap", .stage2 = "liar-stage2-leaking"};
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::LeaksDescriptor, leaks_descriptor);
