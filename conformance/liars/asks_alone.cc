// Answers nothing while a jail of its own runs.
#include "liar.h"

namespace loom::liars {

class AsksAlone final : public Honest {
 public:
  using Honest::Honest;

  Result<JailPlan> plan(const PlanRequest& request) const override {
    if (started_) return fail(ErrorCode::kUnsupported, "one jail after the other");
    return inner_.plan(request);
  }
  Result<StartResult> start(const LaunchSpec& launch) override {
    started_ = true;
    return inner_.start(launch);
  }
  void finish() override {
    started_ = false;
    inner_.finish();
  }

 private:
  bool started_ = false;
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::AsksAlone, asks_alone);
