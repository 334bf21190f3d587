#include "report/conclude.h"

#include <algorithm>

#include "report/entry_text.h"

namespace loom {
namespace {

// Collects entries in publishing order, each made fit to publish.
class EntryList {
 public:
  void add(std::string_view entry, std::string_view prefix = "") {
    if (!entry.empty()) entries_.push_back(one_line(std::string(prefix).append(entry)));
  }
  void add_all(const std::vector<std::string>& entries, std::string_view prefix = "") {
    for (const std::string& entry : entries) add(entry, prefix);
  }
  [[nodiscard]] std::vector<std::string> take() { return std::move(entries_); }

 private:
  std::vector<std::string> entries_;
};

bool was_asked(const CeilingOutcome& ceilings) {
  return ceilings.memory_asked || ceilings.pids_asked;
}

// Names exactly the ceilings that were asked for.
std::string unheld_ceilings(const CeilingOutcome& ceilings) {
  std::string names = ceilings.memory_asked ? "memory.max" : "pids.max";
  if (ceilings.memory_asked && ceilings.pids_asked) names += " and pids.max";
  const std::string reason =
      ceilings.reason.empty() ? "no control group was attached" : ceilings.reason;
  return "cgroup-v2: " + reason + "; " + names + " NOT applied";
}

std::string missing_witness(const std::string& report_error) {
  std::string text =
      "stage2: no report from the inner stage, so no layer that it applies can be confirmed";
  if (!report_error.empty()) text += " (" + report_error + ")";
  return text;
}

bool claims(const std::vector<std::string>& entries, std::string_view tag) {
  return std::any_of(entries.begin(), entries.end(), [&](const std::string& entry) {
    return !is_skip(entry) && entry_tag(entry) == tag;
  });
}

// Whoever runs with our uid may write to the groups, unless the view or Landlock keeps it from
// them.
bool could_lift_its_ceilings(const Audit& audit, const WitnessedRun& run) {
  const bool landlocked = run.report && claims(run.report->applied, "landlock");
  return !claims(audit.when_witnessed, "bwrap") && !landlocked;
}

// What became of the ceilings once it is known what else holds.
CeilingOutcome judge(const Audit& audit, const WitnessedRun& run) {
  CeilingOutcome ceilings = run.ceilings;
  if (ceilings.entered && could_lift_its_ceilings(audit, run)) {
    ceilings.entered = false;
    ceilings.reason =
        "without bubblewrap and Landlock the command can write to its control group and leave it";
  }
  return ceilings;
}

// Two empty lists prove nothing.
bool has_content(const std::optional<InnerReport>& report) {
  return report && !(report->applied.empty() && report->skipped.empty());
}

}  // namespace

std::vector<std::string> conclude(const Audit& audit, const WitnessedRun& run) {
  const bool witnessed = audit.expects_witness && has_content(run.report);
  const CeilingOutcome ceilings = judge(audit, run);
  EntryList list;
  list.add_all(audit.always);
  list.add_all(witnessed ? audit.when_witnessed : audit.when_silent);
  if (was_asked(ceilings) && ceilings.entered) list.add("cgroup-v2");
  list.add_all(run.host_entries);
  if (witnessed) {
    list.add_all(run.report->applied);
    list.add_all(run.host_extras);
    list.add_all(audit.extras);
    list.add_all(audit.widened, kSkipPrefix);
  }
  list.add_all(run.late_skips, kSkipPrefix);
  if (was_asked(ceilings) && !ceilings.entered) {
    list.add(unheld_ceilings(ceilings), kSkipPrefix);
  }
  if (witnessed) list.add_all(run.report->skipped, kSkipPrefix);
  if (audit.expects_witness && !witnessed) {
    list.add(missing_witness(run.report_error), kSkipPrefix);
  }
  return list.take();
}

}  // namespace loom
