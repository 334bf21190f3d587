#pragma once

#include <loom/backend.h>

#include "process_ledger.h"

namespace loom::seatbelt {

// Jails by a profile of macOS' own sandbox, run by the system's launcher and restricted further by
// a stage 2 (docs/seatbelt.md). All but probe, start and the ledger is pure, and so works on every
// system.
class SeatbeltBackend final : public JailBackend {
 public:
  explicit SeatbeltBackend(HostServices& host) : host_(&host) {}

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
  void finish() override;

 private:
  HostServices* host_;  // borrowed; outlives the backend
  ProcessLedger ledger_;
};

}  // namespace loom::seatbelt
