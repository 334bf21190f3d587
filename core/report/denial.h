#pragma once

#include <loom/result.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace loom {

class ValueWriter;

inline constexpr std::uint64_t kDenialVersion = 1;
// Of every text and path of a record that leaves the helper; what is longer is cut.
inline constexpr std::size_t kMaxDenialText = 16'384;

// A rule as a record names it (docs/wire.md, "The denial record").
struct DenialRule {
  std::string dimension{};  // "fs", "exec" or "pin"
  std::uint64_t layer = 0;  // 0: the base policy
  std::string list{};       // "protected", "writable_roots", "exec.deny", …
  std::uint64_t index = 0;  // in that list
  std::string written{};
  std::optional<std::string> real{};
  std::string kind{};   // "any", "dir", "file", "name", "root" or "mount"
  std::string match{};  // "stored", "folded" or "object"
  friend bool operator==(const DenialRule&, const DenialRule&) = default;
};

// Which program is refused for want of which support file.
struct NeededBy {
  std::string program{};
  std::string file{};
  std::string role{};  // "interpreter" or "linker"
  friend bool operator==(const NeededBy&, const NeededBy&) = default;
};

// Why the guard, or a launch, refused something. What the kernel refuses a running command is an
// errno there and never a record. Holds no content of files, no value of the environment and
// nothing of argv but its first word.
struct Denial {
  std::string source{};                    // "guard", or "launch" (planning, lowering, pins, host)
  std::string op{};                        // an operation, or "launch"
  std::string asked{};                     // the path as written, or argv[0]
  std::optional<std::string> real{};       // the real path that was judged; none: no walk landed
  std::string reason{};                    // "not_allowed", …
  std::optional<std::string> evidence{};   // "none", "for", "against", "both"; none: not asked
  std::optional<DenialRule> rule{};        // what decided
  std::optional<DenialRule> overridden{};  // the allowance that would have admitted
  std::uint64_t others = 0;                // further exclusions that hold
  std::optional<NeededBy> needed_by{};
  std::optional<std::uint64_t> stopped_at{};  // of a walk: which component, from 0
  std::optional<std::int64_t> error{};        // errno
  std::optional<std::string> limit{};         // "L12": a known over-approximation
  std::optional<std::string> hint{};          // one remedy
  std::string text{};  // one sentence, valid UTF-8, that begins with the reason
  friend bool operator==(const Denial&, const Denial&) = default;
};

// A refusal of a start: words, and a record where there is one.
struct Refusal {
  Refusal(Error why) : error(std::move(why)) {}  // NOLINT(google-explicit-constructor)
  Refusal(Denial why)                            // NOLINT(google-explicit-constructor)
      : error{.code = ErrorCode::kDenied, .message = why.text, .sys_errno = 0},
        denial(std::move(why)) {}

  Error error;
  std::optional<Denial> denial{};
};

template <class T>
using Admission = tl::expected<T, Refusal>;

// The record of a launch's refusal whose message begins with a reason of its own ("redirected: …",
// "raced: …", "pin_changed: …", "confinement_unavailable: …", "exec_table_too_large: …",
// "already_profiled: …"); nothing for any other message. `program` is argv[0].
[[nodiscard]] std::optional<Denial> launch_denial(const Error& error, std::string_view program);

// As the wire has it (docs/wire.md, "The denial record"): a msgpack map of sixteen keys in a fixed
// order, all present. Paths are bin, byte for byte; texts are made valid UTF-8.
void write_denial(ValueWriter& out, const Denial& denial);

// One line of JSON with the same keys, no newline. A path that is not UTF-8 is escaped (\xNN).
[[nodiscard]] std::string denial_json(const Denial& denial);

}  // namespace loom
