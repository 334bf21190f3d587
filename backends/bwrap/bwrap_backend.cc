#include "bwrap_backend.h"

#include <utility>

#include "audit.h"
#include "exec_rule_set.h"
#include "list_features.h"
#include "plan.h"
#include "probe.h"
#include "render.h"
#include "survey.h"
#include "targets.h"

namespace loom::bwrap {

Result<Features> BwrapBackend::features(const HostFacts& facts) const {
  return bwrap::list_features(facts);
}

Result<Survey> BwrapBackend::survey(const SurveyRequest& request) const {
  return bwrap::survey(request);
}

Result<Pieces> BwrapBackend::pieces() const {
  return Pieces{.launcher = "bwrap", .stage2 = "bwrap-stage2"};
}

Result<Bytes> BwrapBackend::probe(const ProbeRequest& request) {
  return bwrap::probe(request, *host_);
}

Result<JailPlan> BwrapBackend::plan(const PlanRequest& request) const {
  return bwrap::plan(request);
}

Result<LaunchSpec> BwrapBackend::render(const JailPlan& plan) const { return bwrap::render(plan); }

Result<Audit> BwrapBackend::audit(const JailPlan& plan) const { return bwrap::audit(plan); }

Result<StartResult> BwrapBackend::start(const LaunchSpec& launch) {
  ExecRuleSet exec;
  // Before there is anything to end again.
  if (launch.wants_exec_rules) {
    LOOM_TRY(exec, make_exec_rule_set(*host_));
  }
  LOOM_TRY_VOID(host_->spawn(launch));
  return StartResult{
      .entries = {}, .exec_rules = exec.rules.release(), .exec_entry = std::move(exec.entry)};
}

Result<void> BwrapBackend::observe(const TargetsRequest& /*snapshot*/) { return {}; }

Result<Targets> BwrapBackend::targets(const TargetsRequest& request) {
  return bwrap::targets(request, *host_);
}

}  // namespace loom::bwrap
