#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "app/self_test/verdict.h"

namespace loom::app {

// The hostile probes (docs/self-test.md 3): a program that is told where its jail ends and prints
// one line for each attempt to get out. Pure.

// A line that was never printed is an attempt that was never made; nothing is inferred from it.
enum class Attempt : std::uint8_t { kNever, kSucceeded, kRefused };

struct AdversaryRecord {
  bool loaded = false;
  Attempt control_read = Attempt::kNever;  // what it is allowed, as the next
  Attempt control_write = Attempt::kNever;
  Attempt secret_read = Attempt::kNever;  // what it is not, as the next two
  Attempt outside_write = Attempt::kNever;
  Attempt network = Attempt::kNever;
  bool done = false;

  [[nodiscard]] bool does_what_is_allowed() const noexcept {
    return control_read == Attempt::kSucceeded && control_write == Attempt::kSucceeded;
  }
  [[nodiscard]] bool reaches_everything() const noexcept {
    return secret_read == Attempt::kSucceeded && outside_write == Attempt::kSucceeded &&
           network == Attempt::kSucceeded;
  }
  [[nodiscard]] bool reaches_nothing() const noexcept {
    return secret_read == Attempt::kRefused && outside_write == Attempt::kRefused &&
           network == Attempt::kRefused;
  }
  friend bool operator==(const AdversaryRecord&, const AdversaryRecord&) = default;
};

// Line by line; what is no line of the adversary is passed over. Of two lines about one attempt the
// worse one counts: an escape that succeeded, an allowed effect that failed.
[[nodiscard]] AdversaryRecord parse_adversary(std::string_view output);

// One run of an adversary in a tree of its own, and what its host saw.
struct AdversaryRun {
  std::string output;  // stdout, then stderr
  AdversaryRecord record;
  bool victim_exists = false;
  bool secret_changed = false;
  bool secret_shown = false;  // its bytes are in the output
  bool connected = false;     // somebody connected to the listener
};

struct AdversaryEvidence {
  AdversaryRun unjailed;    // the control
  AdversaryRun permissive;  // in a jail that grants exactly the three escapes
  AdversaryRun confined;
};

// The two controls, then the confined run: one after the other, so that a control that already
// decides spares the runs after it.
[[nodiscard]] ProbeVerdict judge_unjailed(const AdversaryRun& control);
[[nodiscard]] ProbeVerdict judge_permissive(const AdversaryRun& permissive);
[[nodiscard]] ProbeVerdict judge_confined(const AdversaryRun& confined);
// The first of the three that is not kEnforced, else kEnforced.
[[nodiscard]] ProbeVerdict judge_adversary(const AdversaryEvidence& seen);

}  // namespace loom::app
