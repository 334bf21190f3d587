#include "landlock_backend.h"

#include <string>
#include <utility>

#include "audit.h"
#include "kernel_facts.h"
#include "plan.h"
#include "render.h"
#include "survey.h"

namespace landlock {
namespace {

void list(loom::Features& features, const char* tag, bool present, std::string reason) {
  if (present) {
    features.tags.emplace_back(tag);
  } else {
    features.absent.push_back({.tag = tag, .reason = std::move(reason)});
  }
}

std::string why_useless(const loom::HostFacts& facts, const KernelFacts& kernel) {
  if (!facts.stage2.present) return "the inner stage is missing: " + facts.stage2.reason;
  if (kernel.abi == 0) return "there is no Landlock here: " + kernel.no_landlock;
  if (!kernel.seccomp) return "no system-call filter can be installed here: " + kernel.no_seccomp;
  return {};
}

}  // namespace

loom::Result<loom::Features> LandlockBackend::features(const loom::HostFacts& facts) const {
  LOOM_TRY(const KernelFacts kernel, decode_kernel_facts(facts.backend));
  loom::Features features;
  // Degraded always: whoever judges by this list wants the platform's strongest jail, and this is
  // not it.
  features.tags = {"rlimits", "pgroup", "degraded"};
  features.degraded = true;
  list(features, "bwrap", false, "this backend makes no namespaces");
  list(features, "landlock", kernel.abi > 0, kernel.no_landlock);
  list(features, "seccomp", kernel.seccomp, kernel.no_seccomp);
  list(features, "exec-landlock", false, "this backend confines no programs");
  list(features, "cgroup-v2", facts.ceilings.available, facts.ceilings.reason);
  features.refusal = why_useless(facts, kernel);
  return features;
}

loom::Result<loom::Survey> LandlockBackend::survey(const loom::SurveyRequest& request) const {
  return landlock::survey(request);
}

loom::Result<loom::Pieces> LandlockBackend::pieces() const {
  return loom::Pieces{.launcher = {}, .stage2 = kStage2};
}

loom::Result<loom::Bytes> LandlockBackend::probe(const loom::ProbeRequest&) {
  return encode(probe_kernel());
}

loom::Result<loom::JailPlan> LandlockBackend::plan(const loom::PlanRequest& request) const {
  return landlock::plan(request);
}

loom::Result<loom::LaunchSpec> LandlockBackend::render(const loom::JailPlan& plan) const {
  return landlock::render(plan);
}

loom::Result<loom::Audit> LandlockBackend::audit(const loom::JailPlan& plan) const {
  return landlock::audit(plan);
}

loom::Result<loom::StartResult> LandlockBackend::start(const loom::LaunchSpec& launch) {
  LOOM_TRY([[maybe_unused]] const std::int32_t pid, host_.spawn(launch));
  return loom::StartResult{};
}

loom::Result<void> LandlockBackend::observe(const loom::TargetsRequest&) { return {}; }

loom::Result<loom::Targets> LandlockBackend::targets(const loom::TargetsRequest&) {
  return loom::Targets{.whole_group = true};
}

}  // namespace landlock
