// Tries a launch before the hello.
#include "liar.h"

namespace loom::liars {

class EarlyLaunch final : public Honest {
 public:
  using Honest::Honest;

  Result<Bytes> probe(const ProbeRequest& request) override {
    static_cast<void>(host_.try_launch({}, 10).has_value());
    return inner_.probe(request);
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::EarlyLaunch, early_launch);
