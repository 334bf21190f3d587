#pragma once

#include <loom/backend.h>

namespace loom::test {

// Answers every verb with an empty value; a base for backends that misbehave in one.
class IdleBackend : public JailBackend {
 public:
  explicit IdleBackend(HostServices&) {}

  Result<Features> features(const HostFacts&) const override { return Features{}; }
  Result<Survey> survey(const SurveyRequest&) const override { return Survey{}; }
  Result<Pieces> pieces() const override { return Pieces{}; }
  Result<Bytes> probe(const ProbeRequest&) override { return Bytes{}; }
  Result<JailPlan> plan(const PlanRequest&) const override { return JailPlan{}; }
  Result<LaunchSpec> render(const JailPlan&) const override { return LaunchSpec{}; }
  Result<Audit> audit(const JailPlan&) const override { return Audit{}; }
  Result<StartResult> start(const LaunchSpec&) override { return StartResult{}; }
  Result<void> observe(const TargetsRequest&) override { return {}; }
  Result<Targets> targets(const TargetsRequest&) override { return Targets{}; }
  void finish() override {}
};

}  // namespace loom::test
