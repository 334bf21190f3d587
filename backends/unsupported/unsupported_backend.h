#pragma once

#include <loom/backend.h>

namespace loom::unsupported {

// The backend of a platform for which nobody has written a jail: it plans the bare command, claims
// nothing, and every report names what the policy asked for and did not get (docs/jail.md,
// "Unsupported platform"). Where the system has resource limits, the host's child sets the CPU and
// file-size ceilings.
class UnsupportedBackend final : public JailBackend {
 public:
  // `host` is borrowed and outlives the backend.
  explicit UnsupportedBackend(HostServices& host) : host_(host) {}

  [[nodiscard]] Result<Features> features(const HostFacts& facts) const override;
  // The explicit mounts: a required one that is absent refuses on every platform.
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
  HostServices& host_;
};

}  // namespace loom::unsupported
