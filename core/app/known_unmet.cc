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

// What the report would say if everything that this machine offers also held.
std::vector<std::string> best_possible_entries(const Session& session, const PreparedRun& run) {
  const Features& features = session.features();
  InnerReport inner{.applied = {"no-new-privs"}, .skipped = {}};
  if (has_tag(features, "landlock")) inner.applied.emplace_back("landlock");
  if (run.policy.network.blocks_direct() && has_tag(features, "seccomp")) {
    inner.applied.emplace_back("seccomp-net");
  }
  if (run.policy.limits.cpu_s) inner.applied.emplace_back("rlimit-cpu");
  if (run.policy.limits.fsize_bytes) inner.applied.emplace_back("rlimit-fsize");
  if (run.policy.network.mode == NetworkMode::kProxy) {
    inner.skipped.emplace_back("network-proxy: no proxy is built into the jail");
  }
  WitnessedRun best;
  if (run.audit.expects_witness) best.report = std::move(inner);
  const std::string_view exec = exec_layer(session.facts().os);
  if (run.needs_exec_layer && has_tag(features, exec)) best.host_extras.emplace_back(exec);
  best.late_skips = run.remarks;
  best.ceilings = ceilings_of(session, run.policy);
  best.ceilings.entered = session.facts().ceilings.available &&
                          (best.ceilings.memory_asked || best.ceilings.pids_asked);
  return conclude(run.audit, best);
}

}  // namespace

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

CeilingOutcome ceilings_of(const Session& session, const Policy& policy) {
  return {.memory_asked = policy.limits.mem_bytes.has_value(),
          .pids_asked = policy.limits.pids.has_value(),
          .entered = false,
          .reason = session.facts().ceilings.reason};
}

Result<void> refuse_known_unmet(const Session& session, const PreparedRun& run) {
  const std::vector<std::string> entries = best_possible_entries(session, run);
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
