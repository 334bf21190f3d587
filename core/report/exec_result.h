#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace loom {

// How one execution ended, told apart (D16).
enum class OutcomeClass : std::uint8_t {
  kExited,
  kSignalled,
  kSetup,  // the jail, or what had to hold before the command
  kExec,   // the program: not found, not executable
  kLimit,
  kTimeout,
  kCancelled,
};
[[nodiscard]] std::string_view outcome_class_name(OutcomeClass outcome) noexcept;  // "exited", …

struct Outcome {
  OutcomeClass outcome = OutcomeClass::kExited;
  std::string detail;  // for people: "exit 3", "killed by SIGSEGV", "cwd /x: no such directory"
  std::string
      first_cause;       // what happened first, recorded when it happened; empty when nothing did
  int shell_status = 0;  // what a shell would show: 125, 126, 127, 128+n or the exit status
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

// What a run used of its memory and process ceilings, from its control group; nothing where the
// kernel does not say.
struct CeilingUse {
  std::optional<std::uint64_t> peak_memory_bytes;
  // Processes that the kernel killed for want of memory; only of a policy with mem_bytes.
  std::optional<std::uint64_t> out_of_memory_kills;
  // Processes and threads refused; only of a policy with pids.
  std::optional<std::uint64_t> denied_forks;
  friend bool operator==(const CeilingUse&, const CeilingUse&) = default;
};

// One finished execution, in the wire's terms (docs/wire.md 5.5).
struct ExecResult {
  int code = 0;
  int signal = 0;
  std::uint64_t stdout_bytes = 0;  // forwarded, not produced
  std::uint64_t stderr_bytes = 0;
  bool stdout_truncated = false;
  bool stderr_truncated = false;
  std::vector<std::string> enforcement;
  bool degraded = false;
  std::chrono::milliseconds wall{0};
  bool timed_out = false;
  bool cancelled = false;
  Outcome outcome;
  std::optional<CeilingUse> use;  // of a run that was in a control group; not on the wire
  // A descendant that had been observed was still there when the command had ended, and was killed
  // then: it had left the process group or was about to be killed with it. Not on the wire.
  bool swept_descendant = false;
  friend bool operator==(const ExecResult&, const ExecResult&) = default;
};

}  // namespace loom
