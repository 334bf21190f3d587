// Has the host start another launch than the one it rendered.
#include "liar.h"

namespace loom::liars {

class StartsAnother final : public Honest {
 public:
  using Honest::Honest;

  Result<StartResult> start(const LaunchSpec& launch) override {
    LaunchSpec other = launch;
    other.argv.emplace_back("--version");
    return inner_.start(other);
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::StartsAnother, starts_another);
