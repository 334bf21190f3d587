#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "host/installation.h"
#include "judgement.h"

namespace loom::conformance {

enum class SubjectKind : std::uint8_t { kBackend, kHelper };
[[nodiscard]] std::string_view kind_name(SubjectKind kind) noexcept;  // "backend", "helper"

// What is judged, and what with.
struct Subject {
  SubjectKind kind = SubjectKind::kBackend;
  std::string backend{};  // kBackend: the shared object's absolute path
  std::string helper{};   // kHelper: the program that is judged; else loom-exec, beside this one
  std::vector<std::string> helper_arguments{};  // kHelper: its command line
  std::string probe{};                          // the program that looks around inside jails
  host::Installation installation{};            // kBackend

  // The file that is judged.
  [[nodiscard]] const std::string& file() const noexcept {
    return kind == SubjectKind::kHelper ? helper : backend;
  }
};

// One question, and the sentence of the contract that it rests on.
struct Check {
  std::string_view id;        // stable: "manners.descriptors"
  std::string_view contract;  // one sentence
  // Runs in a process of its own, so it may crash, hang, and leave things behind.
  void (*judge)(const Subject& subject, Judgement& judgement);
  int deadline_s = 60;
};

// Every check of such a subject, in the order in which they run. Ids are unique among them. The
// first one is the door: a subject that does not pass it can be asked nothing else.
[[nodiscard]] const std::vector<Check>& checks_of(SubjectKind kind);

// By theme, each in the source named after it.
[[nodiscard]] std::vector<Check> load_checks();
[[nodiscard]] std::vector<Check> manners_checks();
[[nodiscard]] std::vector<Check> boundary_checks();
[[nodiscard]] std::vector<Check> codec_checks();
[[nodiscard]] std::vector<Check> hostile_checks();
[[nodiscard]] std::vector<Check> determinism_checks();
[[nodiscard]] std::vector<Check> clause_checks();
[[nodiscard]] std::vector<Check> order_checks();
[[nodiscard]] std::vector<Check> launch_checks();
[[nodiscard]] std::vector<Check> warm_checks();
[[nodiscard]] std::vector<Check> refusal_checks();
[[nodiscard]] std::vector<Check> jail_view_checks();
[[nodiscard]] std::vector<Check> jail_process_checks();
[[nodiscard]] std::vector<Check> report_checks();

// The same for helpers, over the wire (wire/checks).
[[nodiscard]] std::vector<Check> hello_checks();
[[nodiscard]] std::vector<Check> frame_checks();
[[nodiscard]] std::vector<Check> start_checks();
[[nodiscard]] std::vector<Check> policy_checks();
[[nodiscard]] std::vector<Check> output_checks();
[[nodiscard]] std::vector<Check> input_checks();
[[nodiscard]] std::vector<Check> exit_checks();
[[nodiscard]] std::vector<Check> stop_checks();
[[nodiscard]] std::vector<Check> ending_checks();
[[nodiscard]] std::vector<Check> remains_checks();
[[nodiscard]] std::vector<Check> wire_jail_checks();
[[nodiscard]] std::vector<Check> wire_claim_checks();

// Runs one check in a process of its own, with its output collected, and ends what it leaves
// running.
[[nodiscard]] Verdict run_check(const Check& check, const Subject& subject);

}  // namespace loom::conformance
