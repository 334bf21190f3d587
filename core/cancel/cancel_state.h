#pragma once

#include <chrono>
#include <optional>

namespace loom {

using Instant = std::chrono::steady_clock::time_point;
using Millis = std::chrono::milliseconds;

inline constexpr Millis kCancelGrace{2'000};  // docs/wire.md 6.4

enum class StopRung : unsigned char { kTerm, kKill };

// Decides when a jail must be told to stop, and how firmly. Pure: the caller brings the clock and
// sends the signals.
class CancelState {
 public:
  explicit CancelState(Millis grace = kCancelGrace) : grace_(grace) {}

  // Idempotent: asking twice does not restart the grace period. No effect once ended.
  void request(Instant now);
  // The same, because the wall clock ran out; remembered as such unless a cancel came first.
  void expire(Instant now);
  // The run is over; nothing is due any more. Whether it was cancelled stays known.
  void end();

  // The rung to climb now, each at most once, or nothing.
  [[nodiscard]] std::optional<StopRung> due(Instant now);
  // When due must be asked again; nullopt: not before the next request.
  [[nodiscard]] std::optional<Instant> next_deadline() const;

  [[nodiscard]] bool cancelled() const noexcept { return asked_at_.has_value(); }
  [[nodiscard]] bool timed_out() const noexcept { return timed_out_; }

 private:
  Millis grace_;
  std::optional<Instant> asked_at_;
  bool timed_out_ = false;
  bool term_sent_ = false;
  bool kill_sent_ = false;
  bool ended_ = false;
};

}  // namespace loom
