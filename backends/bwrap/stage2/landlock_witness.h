#pragma once

#include <sys/types.h>

#include <string>

#include "prepare_document.h"

namespace loom::bwrap {

// A call that answers "in force" is not a rule set in force. Tries a few harmless things before
// apply_landlock and again after it: what worked and is refused now, the rules refuse. What never
// worked shows nothing, whatever refused it.
class LandlockWitness {
 public:
  // Before the rules are in force.
  explicit LandlockWitness(const PrepareDocument& document);

  // After it. Empty: the rules were seen to refuse something. Otherwise why not.
  [[nodiscard]] std::string doubt_rules() const;
  // After it: whether a process outside was out of reach of signals.
  [[nodiscard]] bool saw_signal_scope() const;

 private:
  bool opens_proc_;  // the rules let /proc be written
  pid_t parent_;     // outside of what the rules confine; 0 when it has no number here
  bool could_write_ = false;
  bool could_inspect_ = false;
  bool could_signal_ = false;
};

}  // namespace loom::bwrap
