#include "app/known_unmet.h"

#include <algorithm>

#include "app/prepare_run.h"
#include "app/session.h"
#include "report/conclude.h"

namespace loom::app {
namespace {

bool has_tag(const Features& features, std::string_view tag) {
  return std::find(features.tags.begin(), features.tags.end(), tag) != features.tags.end();
}

// The inner stage's best word on macOS. Whatever it holds, it never owns all descendants.
InnerReport best_report_of_darwin(const Policy& policy) {
  InnerReport inner{.applied = {}, .skipped = {"darwin-process-lifecycle: sampled"}};
  if (policy.limits.mem_bytes) inner.applied.emplace_back("rlimit-address-space");
  if (policy.limits.pids) inner.applied.emplace_back("rlimit-processes");
  return inner;
}

InnerReport best_report_of_linux(const Features& features, const Policy& policy) {
  InnerReport inner{.applied = {"no-new-privs"}, .skipped = {}};
  if (has_tag(features, "landlock")) inner.applied.emplace_back("landlock");
  if (policy.network.blocks_direct() && has_tag(features, "seccomp")) {
    inner.applied.emplace_back("seccomp-net");
  }
  return inner;
}

InnerReport best_report(const HostFacts& facts, const Features& features, const Policy& policy) {
  InnerReport inner =
      facts.os == "darwin" ? best_report_of_darwin(policy) : best_report_of_linux(features, policy);
  if (policy.limits.cpu_s) inner.applied.emplace_back("rlimit-cpu");
  if (policy.limits.fsize_bytes) inner.applied.emplace_back("rlimit-fsize");
  if (policy.network.mode == NetworkMode::kProxy) {
    inner.skipped.emplace_back("network-proxy: no proxy is built into the jail");
  }
  return inner;
}

}  // namespace

std::vector<std::string> best_possible_entries(const HostFacts& facts, const Features& features,
                                               const PreparedRun& run) {
  WitnessedRun best;
  if (run.audit.expects_witness) best.report = best_report(facts, features, run.policy);
  // On macOS the profile holds the exec table, and the audit claims it with the rest of the
  // profile.
  const std::string_view exec = exec_layer(facts.os);
  if (run.needs_exec_layer && has_tag(features, exec)) best.host_extras.emplace_back(exec);
  best.late_skips = run.remarks;
  best.ceilings = ceilings_of(facts, run.policy);
  best.ceilings.entered =
      facts.ceilings.available && (best.ceilings.memory_asked || best.ceilings.pids_asked);
  return conclude(run.audit, best);
}

std::string explain_missing(const std::vector<std::string>& missing,
                            const std::vector<std::string>& entries) {
  std::string text;
  for (const std::string& layer : missing) {
    if (!text.empty()) text += ", ";
    text += layer;
    const std::string skip = "skip:" + layer + ": ";
    const auto entry = std::find_if(entries.begin(), entries.end(), [&](const std::string& each) {
      return each.starts_with(skip);
    });
    if (entry != entries.end()) text += " (" + entry->substr(skip.size()) + ")";
  }
  return text;
}

CeilingOutcome ceilings_of(const HostFacts& facts, const Policy& policy) {
  const bool has_groups = facts.os == "linux";
  return {.memory_asked = has_groups && policy.limits.mem_bytes.has_value(),
          .pids_asked = has_groups && policy.limits.pids.has_value(),
          .entered = false,
          .reason = facts.ceilings.reason};
}

Result<void> refuse_known_unmet(const Session& session, const PreparedRun& run) {
  const std::vector<std::string> entries =
      best_possible_entries(session.facts(), session.features(), run);
  const std::vector<std::string> missing =
      unmet_layers({.demand = session.options().demand,
                    .policy = &run.policy,
                    .exec_rules = run.needs_exec_layer},
                   session.facts().os, session.features().degraded, entries);
  if (missing.empty()) return {};
  return fail(ErrorCode::kUnsupported,
              "the demand cannot be met here, not held: " + explain_missing(missing, entries));
}

}  // namespace loom::app
