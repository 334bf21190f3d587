#pragma once

#include <string>
#include <vector>

#include "app/self_test/probe_run.h"
#include "app/self_test/verdict.h"

namespace loom::app {

// The words that payloads print.
inline constexpr std::string_view kAllowedOk = "ALLOWED-OK";
inline constexpr std::string_view kWrote = "WROTE";

// A payload that tried to write outside the writable root and then inside it.
struct WriteEvidence {
  ProbeRun run;
  bool victim_exists = false;    // outside, on the host, afterwards
  bool allowed_arrived = false;  // inside, on the host, afterwards
};
[[nodiscard]] ProbeVerdict judge_outside_write(const WriteEvidence& seen);

// A payload that wrote and read beside two protected paths, then tried to read and change them.
struct MaskEvidence {
  ProbeRun run;
  std::string file_marker;   // in the protected file
  std::string inner_marker;  // in a file of the protected directory
  std::string inner_name;    // that file's name
  std::string open_marker;   // in an unprotected file of the same directory
  bool file_changed = false;
  bool inner_changed = false;
};
[[nodiscard]] ProbeVerdict judge_masks(const MaskEvidence& seen);

// The same payload in two jails, of which only the control may show the secrets.
struct RevealEvidence {
  ProbeRun control;
  ProbeRun test;
  std::vector<std::string> secrets;
  std::vector<std::string> open;  // what the test must show all the same
};
[[nodiscard]] ProbeVerdict judge_reveal(const RevealEvidence& seen);

}  // namespace loom::app
