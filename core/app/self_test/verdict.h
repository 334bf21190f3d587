#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace loom::app {

enum class Verdict : std::uint8_t {
  kEnforced,  // the layer did its work, beside something that was allowed
  kSkipped,   // this machine lacks the layer: neither a pass nor a failure
  kFailed,
};

// What one probe found. `reason` is empty for kEnforced.
struct ProbeVerdict {
  Verdict verdict = Verdict::kFailed;
  std::string reason{};
  friend bool operator==(const ProbeVerdict&, const ProbeVerdict&) = default;
};

[[nodiscard]] ProbeVerdict enforced();
[[nodiscard]] ProbeVerdict skipped(std::string reason);
[[nodiscard]] ProbeVerdict failed(std::string detail);

struct NamedVerdict {
  std::string name;  // an interface: checkers compare it for equality
  ProbeVerdict verdict;
};

inline constexpr std::size_t kMaxQuotedBytes = 400;

// Output of a payload, for a reason: one line between quotes, at most kMaxQuotedBytes of it.
[[nodiscard]] std::string quote_output(std::string_view output);

// The lines of `text`, without what ends them.
[[nodiscard]] std::vector<std::string_view> lines_of(std::string_view text);

// Whether one line of `text` is exactly `line`.
[[nodiscard]] bool has_line(std::string_view text, std::string_view line);

[[nodiscard]] inline bool holds(std::string_view text, std::string_view part) noexcept {
  return text.find(part) != std::string_view::npos;
}

// The number in the first line "`word` N"; 0 where there is none.
[[nodiscard]] std::uint64_t number_after(std::string_view text, std::string_view word);

}  // namespace loom::app
