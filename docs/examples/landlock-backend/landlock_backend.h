#pragma once

#include <loom/backend.h>

namespace landlock {

// A jail without namespaces: Landlock for files, TCP, signals and abstract sockets, a system-call
// filter, resource limits, no privileges. Every clause of a policy is held, refused by name, or
// named in the report as not held (README.md).
class LandlockBackend final : public loom::JailBackend {
 public:
  // `host` is borrowed and outlives the backend.
  explicit LandlockBackend(loom::HostServices& host) : host_(host) {}

  [[nodiscard]] loom::Result<loom::Features> features(const loom::HostFacts& facts) const override;
  [[nodiscard]] loom::Result<loom::Survey> survey(
      const loom::SurveyRequest& request) const override;
  [[nodiscard]] loom::Result<loom::Pieces> pieces() const override;
  [[nodiscard]] loom::Result<loom::Bytes> probe(const loom::ProbeRequest& request) override;
  [[nodiscard]] loom::Result<loom::JailPlan> plan(const loom::PlanRequest& request) const override;
  [[nodiscard]] loom::Result<loom::LaunchSpec> render(const loom::JailPlan& plan) const override;
  [[nodiscard]] loom::Result<loom::Audit> audit(const loom::JailPlan& plan) const override;
  [[nodiscard]] loom::Result<loom::StartResult> start(const loom::LaunchSpec& launch) override;
  [[nodiscard]] loom::Result<void> observe(const loom::TargetsRequest& snapshot) override;
  // The inner stage passes a SIGTERM on, and ends everything when its group is killed
  // (stage2/main.cc), so the group is always enough.
  [[nodiscard]] loom::Result<loom::Targets> targets(const loom::TargetsRequest& request) override;
  void finish() override {}

 private:
  loom::HostServices& host_;
};

}  // namespace landlock
