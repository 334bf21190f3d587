// Tries again when the host could not start anything.
#include "liar.h"

namespace loom::liars {

class RetriesSpawn final : public Honest {
 public:
  using Honest::Honest;

  Result<StartResult> start(const LaunchSpec& launch) override {
    auto started = inner_.start(launch);
    return started ? started : inner_.start(launch);
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::RetriesSpawn, retries_spawn);
