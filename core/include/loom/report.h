#pragma once

#include <loom/bytes.h>
#include <loom/result.h>

#include <string>
#include <vector>

namespace loom {

// What the inner stage says it put in force, on descriptor 4 (docs/wire.md 11): one msgpack map
// with exactly these two keys.
struct InnerReport {
  std::vector<std::string> applied{};  // entries for layers in force, without prefix
  std::vector<std::string> skipped{};  // "tag: reason" for layers not in force
  friend bool operator==(const InnerReport&, const InnerReport&) = default;
};

inline constexpr std::size_t kMaxInnerReportBytes = 65'536;

[[nodiscard]] Bytes encode(const InnerReport& report);
// Unknown keys are refused; a missing key or nil is an empty list.
[[nodiscard]] Result<InnerReport> decode_inner_report(ByteView bytes);

}  // namespace loom
