#include "app/self_test/privilege_verdicts.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

#include "app/self_test/file_verdicts.h"

namespace loom::app {
namespace {

std::string printed(const ProbeRun& run) {
  return "stdout " + quote_output(run.out) + ", stderr " + quote_output(run.err);
}

// Rows of /proc/<pid>/status, in the order and with the names that the report uses.
struct CapabilityRow {
  std::string_view key;
  std::string_view name;
};
constexpr std::array<CapabilityRow, 5> kCapabilityRows = {{{"CapEff:", "effective"},
                                                           {"CapPrm:", "permitted"},
                                                           {"CapInh:", "inheritable"},
                                                           {"CapAmb:", "ambient"},
                                                           {"CapBnd:", "bounding"}}};

std::optional<std::uint64_t> status_number(std::string_view status, std::string_view key,
                                           int base) {
  for (std::string_view line : lines_of(status)) {
    if (!line.starts_with(key)) continue;
    line.remove_prefix(key.size());
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    std::uint64_t number = 0;
    const auto parsed = std::from_chars(line.data(), line.data() + line.size(), number, base);
    if (parsed.ec == std::errc() && parsed.ptr == line.data() + line.size()) return number;
  }
  return std::nullopt;
}

// "bounding,ambient": the sets that are not empty. Nothing when a row is missing.
std::optional<std::string> full_sets(std::string_view status) {
  static constexpr int kHexadecimal = 16;
  std::string names;
  for (const CapabilityRow& row : kCapabilityRows) {
    const auto set = status_number(status, row.key, kHexadecimal);
    if (!set) return std::nullopt;
    if (*set != 0) names += (names.empty() ? "" : ",") + std::string(row.name);
  }
  return names;
}

ProbeVerdict judge_capabilities(const ProbeRun& run, const std::string& full) {
  static constexpr std::string_view kUnheld = "unheld:caps=";
  const std::vector<std::string>& entries = run.result.enforcement;
  if (find_entry(entries, "caps=") == "caps=none") {
    return full.empty()
               ? enforced()
               : failed("the report says caps=none, and these sets are not empty: " + full);
  }
  const std::string unheld = find_entry(entries, kUnheld);
  if (unheld.empty()) return failed("the report does not claim caps=none");
  if (unheld.substr(kUnheld.size()) != full) {
    return failed("the report says " + unheld + ", and these sets are not empty: " + full);
  }
  // Anybody may give up what he holds; only the bounding set takes a right to clear.
  return full == "bounding" ? skipped(unheld) : failed(unheld);
}

}  // namespace

ProbeVerdict judge_landlock(const LandlockEvidence& seen) {
  if (!seen.helper_can_open) {
    return skipped("landlock: the helper itself cannot write its /proc/self/oom_score_adj");
  }
  if (has_line(seen.run.out, kOpened)) return failed("the file was opened for writing");
  if (!has_line(seen.run.out, kAllowedOk)) {
    return failed("the payload could not write inside its writable root; " + printed(seen.run));
  }
  const std::string unheld = find_entry(seen.run.result.enforcement, "unheld:pid-namespace");
  if (!has_line(seen.run.out, kMountsAllow) && !unheld.empty()) {
    return skipped("/proc is the host's, and mounted read-only: " + unheld);
  }
  if (!has_line(seen.run.out, kMountsAllow)) {
    return failed("inconclusive: mounts or permissions refuse it already; " + printed(seen.run));
  }
  // Landlock's errno is EACCES; a read-only mount's would be EROFS.
  if (!holds(seen.run.err, "Permission denied")) {
    return failed("inconclusive: not refused as Landlock does; " + printed(seen.run));
  }
  return enforced();
}

ProbeVerdict judge_privileges(const ProbeRun& run) {
  static constexpr int kDecimal = 10;
  const auto full = full_sets(run.out);
  const auto no_new_privileges = status_number(run.out, "NoNewPrivs:", kDecimal);
  if (!full || !no_new_privileges) return failed("inconclusive: " + printed(run));
  for (const char* tag : {"no-new-privs", "platform-restrictions"}) {
    if (auto skip = read_skip(run.result.enforcement, tag)) return skipped(std::move(*skip));
  }
  if (!is_claimed(run.result.enforcement, "no-new-privs")) {
    return failed("the report does not claim no-new-privs");
  }
  if (*no_new_privileges != 1) return failed("the report claims no-new-privs, and it is not set");
  return judge_capabilities(run, *full);
}

std::map<std::string, int> parse_calls(std::string_view text) {
  std::map<std::string, int> answers;
  for (std::string_view line : lines_of(text)) {
    if (!line.starts_with(kCall)) continue;
    line.remove_prefix(kCall.size());
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) continue;
    const std::string_view number = line.substr(space + 1);
    int error = 0;
    const auto parsed = std::from_chars(number.data(), number.data() + number.size(), error);
    if (parsed.ec != std::errc() || parsed.ptr != number.data() + number.size()) continue;
    answers[std::string(line.substr(0, space))] = error;
  }
  return answers;
}

ProbeVerdict judge_calls(const CallEvidence& seen) {
  if (!has_line(seen.run.out, kCallsDone)) {
    return failed("not all calls were tried; " + printed(seen.run));
  }
  if (!is_claimed(seen.run.result.enforcement, "seccomp-deny")) {
    const std::string unheld = find_entry(seen.run.result.enforcement, "unheld:seccomp-deny");
    return skipped(unheld.empty() ? "the report does not claim seccomp-deny" : unheld);
  }
  if (!has_line(seen.control, kCallsDone)) {
    return skipped("the control without a jail did not finish: " + quote_output(seen.control));
  }
  const std::map<std::string, int> free = parse_calls(seen.control);
  const std::map<std::string, int> jailed = parse_calls(seen.run.out);
  int comparable = 0;
  for (const RefusedCall& call : seen.calls) {
    const std::string name(call.name);
    const auto answer = free.find(name);
    if (answer == free.end() || answer->second == call.refusal) continue;
    ++comparable;
    const auto inside = jailed.find(name);
    if (inside == jailed.end() || inside->second != call.refusal) {
      return failed(name + " was not refused with errno " + std::to_string(call.refusal) + "; " +
                    printed(seen.run));
    }
  }
  if (comparable > 0) return enforced();
  return skipped("every one of the calls is refused without a jail too: " +
                 quote_output(seen.control));
}

}  // namespace loom::app
