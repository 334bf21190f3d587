#include "app/self_test/report_text.h"

#include <loom/utf8.h>

#include <algorithm>

namespace loom::app {
namespace {

constexpr const char* kSummaryHeading = "\n==== enforcement summary ====\n";

std::size_t count(const std::vector<NamedVerdict>& probes, Verdict verdict) {
  return static_cast<std::size_t>(
      std::count_if(probes.begin(), probes.end(),
                    [&](const NamedVerdict& probe) { return probe.verdict.verdict == verdict; }));
}

// The verdict's word, padded to the column of the name.
const char* padded_word(Verdict verdict) {
  switch (verdict) {
    case Verdict::kEnforced:
      return "ENFORCED  ";
    case Verdict::kSkipped:
      return "SKIPPED   ";
    case Verdict::kFailed:
      return "FAILED    ";
  }
  return "FAILED    ";
}

std::string render_result(const std::vector<NamedVerdict>& probes, bool interrupted) {
  if (interrupted) {
    return "RESULT: FAIL (interrupted after " + std::to_string(probes.size()) + " probes)\n";
  }
  const std::size_t failures = count(probes, Verdict::kFailed);
  if (failures > 0) {
    return "RESULT: FAIL (" + std::to_string(failures) + " of " + std::to_string(probes.size()) +
           " probes failed)\n";
  }
  return "RESULT: OK (skips come from the environment and are not passes)\n";
}

}  // namespace

std::string render_heading(const std::vector<std::string>& features) {
  std::string list;
  for (const std::string& tag : features) list += (list.empty() ? "" : ", ") + tag;
  return "loom-exec self-test\n  features: " + printable(list) + "\n\n";
}

std::string render_verdict(const NamedVerdict& probe) {
  std::string line = "  ";
  line += padded_word(probe.verdict.verdict);
  line += probe.name;
  if (probe.verdict.verdict != Verdict::kEnforced) {
    line += " (" + printable(probe.verdict.reason) + ")";
  }
  return line + "\n";
}

std::string render_summary(const std::vector<NamedVerdict>& probes, bool interrupted) {
  std::string text = kSummaryHeading;
  text += "enforced (" + std::to_string(count(probes, Verdict::kEnforced)) + "):\n";
  for (const NamedVerdict& probe : probes) {
    if (probe.verdict.verdict == Verdict::kEnforced) text += "  + " + probe.name + "\n";
  }
  text +=
      "skipped (" + std::to_string(count(probes, Verdict::kSkipped)) + ") — not verified here\n";
  for (const NamedVerdict& probe : probes) {
    if (probe.verdict.verdict != Verdict::kSkipped) continue;
    text += "  - " + probe.name + ": " + printable(probe.verdict.reason) + "\n";
  }
  return text + "\n" + render_result(probes, interrupted);
}

std::string render_not_run(const NotRun& gate) {
  return "  NOT RUN   every probe (" + printable(gate.reason) + ")\n" + kSummaryHeading +
         "enforced (0):\n" + printable(gate.remark) + "\n\nRESULT: " + gate.result + "\n";
}

int exit_status(const std::vector<NamedVerdict>& probes, bool interrupted) {
  return interrupted || count(probes, Verdict::kFailed) > 0 ? 1 : 0;
}

}  // namespace loom::app
