#include "cancel/cancel_state.h"

namespace loom {

void CancelState::request(Instant now) {
  if (!ended_ && !asked_at_) asked_at_ = now;
}

void CancelState::expire(Instant now) {
  if (ended_ || asked_at_) return;
  timed_out_ = true;
  asked_at_ = now;
}

void CancelState::end() { ended_ = true; }

std::optional<StopRung> CancelState::due(Instant now) {
  const std::optional<Instant> deadline = next_deadline();
  if (!deadline || now < *deadline) return std::nullopt;
  if (!term_sent_) {
    term_sent_ = true;
    return StopRung::kTerm;
  }
  kill_sent_ = true;
  return StopRung::kKill;
}

std::optional<Instant> CancelState::next_deadline() const {
  if (!asked_at_ || ended_ || kill_sent_) return std::nullopt;
  return term_sent_ ? *asked_at_ + grace_ : *asked_at_;
}

}  // namespace loom
