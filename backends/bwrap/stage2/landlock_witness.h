#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "prepare_document.h"

namespace loom::bwrap {

// A call that answers "in force" is not a rule set in force. Tries a few harmless things before
// apply_landlock and again after it: what worked and is refused now, the rules refuse. What never
// worked shows nothing, whatever refused it.
class LandlockWitness {
 public:
  // Where everybody may write for himself.
  enum class Place : std::uint8_t {
    kOwnKnob,     // one of the process's own files below /proc
    kOwnDevices,  // the jail's own /dev, a tmpfs
  };

  // Before the rules are in force.
  explicit LandlockWitness(const PrepareDocument& document);

  // After it. Empty: the rules were seen to refuse something. Otherwise why not.
  [[nodiscard]] std::string doubt_rules() const;
  // After it: whether a process outside was out of reach of signals.
  [[nodiscard]] bool saw_signal_scope() const;

 private:
  pid_t parent_;  // outside of what the rules confine; 0 when it has no number here
  std::optional<Place> could_write_;
  bool could_inspect_ = false;
  bool could_signal_ = false;
};

}  // namespace loom::bwrap
