#pragma once

#include <loom/plan.h>
#include <loom/policy.h>
#include <loom/report.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace loom {

// Which ceilings of a control group were asked for, and what became of them.
struct CeilingOutcome {
  bool memory_asked = false;
  bool pids_asked = false;
  bool entered = false;
  std::string reason;  // why not entered
};

// What the host saw of the inner stage's word and of the run.
struct WitnessedRun {
  std::optional<InnerReport> report;  // nullopt: none received
  std::string report_error;           // why what came was not a report; may be empty
  std::vector<std::string>
      host_entries;  // applied by the host itself: child limits, start's entries
  std::vector<std::string> host_extras;  // further claims of the host's: "launcher-pins"
  CeilingOutcome ceilings;
  // "mounts: …", without "skip:": what the policy's exec table does not hold as it was written, and
  // what is found at settle (D23)
  std::vector<std::string> late_skips;
};

// The enforcement list of one execution, in the order of docs/enforcement-tags.md 4. A report of
// two empty lists counts as not received.
[[nodiscard]] std::vector<std::string> conclude(const Audit& audit, const WitnessedRun& run);

// How much of what a launch asks for must hold.
struct LayerDemand {
  Demand demand = Demand::kBestEffort;
  const Policy* policy = nullptr;  // in force; borrowed, never null
  // Its exec table confines programs, and does not do with a report instead (D21).
  bool exec_rules = false;
};

// The layer that holds an exec table: "exec-landlock", on macOS "seatbelt-exec".
[[nodiscard]] std::string_view exec_layer(std::string_view os) noexcept;

// The layers that `asked` requires on `os` and that `entries` do not show, by tag, in the order of
// docs/enforcement-tags.md 5.2; for kPlatform and kFull every "skip:" (that is not tolerated there)
// counts as missing too. Empty: the demand is met. kBestEffort is always met.
[[nodiscard]] std::vector<std::string> unmet_layers(const LayerDemand& asked, std::string_view os,
                                                    bool degraded,
                                                    const std::vector<std::string>& entries);

}  // namespace loom
