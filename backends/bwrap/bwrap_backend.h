#pragma once

#include <loom/backend.h>

namespace loom::bwrap {

// Jails built by bubblewrap, restricted further by a stage 2 of its own; where bubblewrap is
// missing, stage 2 alone. Each verb stands in the file named after it.
class BwrapBackend final : public JailBackend {
 public:
  explicit BwrapBackend(HostServices& host) : host_(&host) {}

  [[nodiscard]] Result<Features> features(const HostFacts& facts) const override;
  [[nodiscard]] Result<Survey> survey(const SurveyRequest& request) const override;
  [[nodiscard]] Result<Pieces> pieces() const override;
  [[nodiscard]] Result<Bytes> probe(const ProbeRequest& request) override;
  [[nodiscard]] Result<JailPlan> plan(const PlanRequest& request) const override;
  [[nodiscard]] Result<LaunchSpec> render(const JailPlan& plan) const override;
  [[nodiscard]] Result<Audit> audit(const JailPlan& plan) const override;
  [[nodiscard]] Result<StartResult> start(const LaunchSpec& launch) override;
  [[nodiscard]] Result<void> observe(const TargetsRequest& snapshot) override;
  [[nodiscard]] Result<Targets> targets(const TargetsRequest& request) override;
  void finish() override {}

 private:
  HostServices* host_;  // borrowed; outlives the backend
};

}  // namespace loom::bwrap
