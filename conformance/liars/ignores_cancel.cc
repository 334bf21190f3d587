// Names nobody when a run is to be stopped.
#include "liar.h"

namespace loom::liars {

class IgnoresCancel final : public Honest {
 public:
  using Honest::Honest;

  Result<Targets> targets(const TargetsRequest&) override {
    return Targets{.whole_group = false, .processes = {}};
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::IgnoresCancel, ignores_cancel);
