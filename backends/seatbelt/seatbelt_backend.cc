#include "seatbelt_backend.h"

#include <string>

#include "audit.h"
#include "list_features.h"
#include "plan.h"
#include "platform.h"
#include "probe.h"
#include "render.h"
#include "survey.h"

namespace loom::seatbelt {

Result<Features> SeatbeltBackend::features(const HostFacts& facts) const {
  return seatbelt::list_features(facts);
}

Result<Survey> SeatbeltBackend::survey(const SurveyRequest& request) const {
  return seatbelt::survey(request);
}

Result<Pieces> SeatbeltBackend::pieces() const {
  return Pieces{.launcher = std::string(kLauncher), .stage2 = kStage2Name};
}

Result<Bytes> SeatbeltBackend::probe(const ProbeRequest& request) {
  return seatbelt::probe(request, *host_);
}

Result<JailPlan> SeatbeltBackend::plan(const PlanRequest& request) const {
  return seatbelt::plan(request);
}

Result<LaunchSpec> SeatbeltBackend::render(const JailPlan& plan) const {
  return seatbelt::render(plan);
}

Result<Audit> SeatbeltBackend::audit(const JailPlan& plan) const { return seatbelt::audit(plan); }

Result<StartResult> SeatbeltBackend::start(const LaunchSpec& launch) {
  LOOM_TRY_VOID(host_->spawn(launch));
  return StartResult{};
}

Result<void> SeatbeltBackend::observe(const TargetsRequest& snapshot) {
  ledger_.observe(snapshot);
  return {};
}

Result<Targets> SeatbeltBackend::targets(const TargetsRequest& request) {
  return ledger_.targets(request);
}

void SeatbeltBackend::finish() { ledger_.forget(); }

}  // namespace loom::seatbelt
