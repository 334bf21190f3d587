#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "value.h"

namespace loom::conformance {

inline constexpr std::size_t kMaxPayloadBytes = 16'777'216;
inline constexpr int kProto = 3;
inline constexpr std::string_view kOutcome = "exec-outcome-v1";
inline constexpr std::string_view kDenial = "denial-v1";

// What both hellos list, and so which keys may appear (docs/wire.md 3).
struct Terms {
  bool outcome = false;
  bool denial = false;
};

// A frame of the helper's.
struct Frame {
  std::uint64_t id = 0;
  std::string kind{};
  Json body{};
  std::string payload{};
  Spelling spelling = Spelling::kSmallest;
  bool in_order = true;  // the envelope's keys as v, id, kind, body

  [[nodiscard]] std::string text() const;  // for messages
};

// Any bytes with their length before them.
[[nodiscard]] std::string frame_of(std::string_view payload);
// As a broker sends it.
[[nodiscard]] std::string envelope(std::uint64_t id, std::string_view kind, const Json& body);

// Judges a payload by what a broker demands of it: envelope, kind, and the body's keys and types,
// none missing and none more. kBackend: the broker would end the channel.
[[nodiscard]] Result<Frame> read_frame(std::string payload, const Terms& terms);

}  // namespace loom::conformance
