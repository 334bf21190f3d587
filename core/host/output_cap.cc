#include "host/output_cap.h"

#include <algorithm>

namespace loom::host {

OutputCap::Verdict OutputCap::take(std::size_t read_bytes) {
  if (truncated_ || read_bytes == 0) return {};
  const std::uint64_t room = cap_ ? *cap_ - forwarded_ : read_bytes;
  const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(read_bytes, room));
  forwarded_ += bytes;
  truncated_ = bytes < read_bytes;
  return Verdict{.forward = true, .bytes = bytes, .truncated = truncated_};
}

}  // namespace loom::host
