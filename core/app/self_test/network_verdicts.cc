#include "app/self_test/network_verdicts.h"

namespace loom::app {
namespace {

constexpr std::string_view kNamespace = "namespace ";

std::string story(const ProbeRun& run) {
  return "exit " + std::to_string(run.result.code) + ", stdout " + quote_output(run.out) +
         ", stderr " + quote_output(run.err);
}

// "net:[…]" as the payload printed it; empty when it did not.
std::string printed_namespace(const ProbeRun& run) {
  for (const std::string_view line : lines_of(run.out)) {
    if (line.starts_with(kNamespace)) return std::string(line.substr(kNamespace.size()));
  }
  return {};
}

}  // namespace

ProbeVerdict judge_socket(const SocketEvidence& seen) {
  if (!has_line(seen.control.out, kSocketCreated)) {
    return failed("no socket with network full either: " + story(seen.control));
  }
  if (has_line(seen.test.out, kSocketCreated)) return failed("a socket was created");
  if (has_line(seen.test.out, kSocketDenied) && seen.test.result.code == 1) return enforced();
  return failed("inconclusive: " + story(seen.test));
}

std::vector<std::string> parse_devices(std::string_view text) {
  std::vector<std::string> names;
  for (std::string_view line : lines_of(text)) {
    const std::size_t colon = line.find(':');
    // Titles have bars, and the namespace's line starts with its word.
    if (colon == std::string_view::npos || line.starts_with(kNamespace)) continue;
    line = line.substr(0, colon);
    const std::size_t start = line.find_first_not_of(' ');
    if (start != std::string_view::npos) names.emplace_back(line.substr(start));
  }
  return names;
}

ProbeVerdict judge_devices(const DeviceEvidence& seen) {
  if (seen.own_namespace.empty() || printed_namespace(seen.control) != seen.own_namespace) {
    return failed("the control with network full did not see the helper's own network: " +
                  story(seen.control));
  }
  const std::string inside = printed_namespace(seen.test);
  const std::vector<std::string> devices = parse_devices(seen.test.out);
  if (inside.empty() || devices.empty()) return failed("inconclusive: " + story(seen.test));
  if (inside == seen.own_namespace) return failed("the jail shares the helper's network");
  if (devices != std::vector<std::string>{"lo"}) {
    return failed("further devices: " + quote_output(seen.test.out));
  }
  return enforced();
}

}  // namespace loom::app
