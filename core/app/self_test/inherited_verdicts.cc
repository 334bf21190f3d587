#include "app/self_test/inherited_verdicts.h"

#include <algorithm>
#include <iterator>
#include <set>

namespace loom::app {
namespace {

std::string printed(const ProbeRun& run) {
  return "stdout " + quote_output(run.out) + ", stderr " + quote_output(run.err);
}

}  // namespace

ProbeVerdict judge_environment(const ProbeRun& run) {
  if (holds(run.out, kCanary)) return failed("the canary reached the payload");
  const auto lines = lines_of(run.out);
  const bool has_path = std::any_of(
      lines.begin(), lines.end(), [](std::string_view line) { return line.starts_with("PATH="); });
  if (!has_path) return failed("PATH did not reach the payload; " + printed(run));
  return enforced();
}

ProbeVerdict judge_descriptors(const ProbeRun& run, std::string_view mark) {
  const auto lines = lines_of(run.out);
  const auto first = std::find(lines.begin(), lines.end(), kListing);
  const auto second = std::find(lines.begin(), lines.end(), kMarkedListing);
  if (first == lines.end() || second == lines.end() || second < first) {
    return failed("inconclusive: " + printed(run));
  }
  using Names = std::set<std::string_view>;
  const Names plain(std::next(first), second);
  const Names marked(std::next(second), lines.end());
  if (!marked.contains(mark)) {
    return failed("the listing does not show a descriptor that is there; " + printed(run));
  }
  if (plain != Names{"0", "1", "2"}) {
    return failed("the payload's descriptors are not 0, 1 and 2; " + printed(run));
  }
  return enforced();
}

}  // namespace loom::app
