#include "check.h"

namespace loom::conformance {
namespace {

using Theme = std::vector<Check> (*)();

std::vector<Check> collect(std::initializer_list<Theme> themes) {
  std::vector<Check> checks;
  for (const Theme theme : themes) {
    const std::vector<Check> some = theme();
    checks.insert(checks.end(), some.begin(), some.end());
  }
  return checks;
}

const std::vector<Check>& backend_checks() {
  static const auto& checks = *new std::vector<Check>(
      collect({load_checks, manners_checks, boundary_checks, codec_checks, hostile_checks,
               determinism_checks, clause_checks, order_checks, launch_checks, warm_checks,
               refusal_checks, jail_view_checks, jail_process_checks, report_checks}));
  return checks;
}

const std::vector<Check>& helper_checks() {
  static const auto& checks = *new std::vector<Check>(
      collect({hello_checks, frame_checks, start_checks, policy_checks, output_checks, input_checks,
               exit_checks, stop_checks, ending_checks, remains_checks, wire_jail_checks,
               wire_claim_checks}));
  return checks;
}

}  // namespace

std::string_view kind_name(SubjectKind kind) noexcept {
  return kind == SubjectKind::kHelper ? "helper" : "backend";
}

const std::vector<Check>& checks_of(SubjectKind kind) {
  return kind == SubjectKind::kHelper ? helper_checks() : backend_checks();
}

}  // namespace loom::conformance
