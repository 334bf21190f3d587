#include "app/self_test/probe_run.h"

#include <algorithm>

#include "app/self_test/verdict.h"
#include "report/entry_text.h"

namespace loom::app {

Result<void> require_payload_ran(const ProbeRun& run) {
  const Outcome& outcome = run.result.outcome;
  if (outcome.outcome != OutcomeClass::kSetup && outcome.outcome != OutcomeClass::kExec) return {};
  std::string message = "setup: " + outcome.detail;
  if (!run.err.empty()) message += "; stderr " + quote_output(run.err);
  return fail(ErrorCode::kSystem, message);
}

std::optional<std::string> read_skip(const std::vector<std::string>& entries,
                                     std::string_view tag) {
  const auto skip = std::find_if(entries.begin(), entries.end(), [&](const std::string& entry) {
    return is_skip(entry) && entry_tag(entry) == tag;
  });
  if (skip == entries.end()) return std::nullopt;
  return skip->substr(kSkipPrefix.size());
}

bool is_claimed(const std::vector<std::string>& entries, std::string_view tag) {
  return std::any_of(entries.begin(), entries.end(), [&](const std::string& entry) {
    return !is_skip(entry) && entry_tag(entry) == tag;
  });
}

std::string find_entry(const std::vector<std::string>& entries, std::string_view start) {
  const auto found = std::find_if(entries.begin(), entries.end(), [&](const std::string& entry) {
    return entry.starts_with(start);
  });
  return found == entries.end() ? std::string() : *found;
}

}  // namespace loom::app
