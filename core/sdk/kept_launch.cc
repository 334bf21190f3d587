#include "kept_launch.h"

#include <cstddef>
#include <utility>

namespace loom::boundary {
namespace {

constexpr std::size_t kMaxKeptBytes = 1u << 20;

}  // namespace

const LaunchSpec* KeptLaunch::find(ByteView bytes) const noexcept {
  return !bytes_.empty() && as_text(bytes_) == as_text(bytes) ? &launch_ : nullptr;
}

const Bytes* KeptLaunch::find(const LaunchSpec& launch) {
  if (bytes_.empty()) return nullptr;
  launch_.commit = launch.commit;
  const bool same = launch_ == launch;
  launch_.commit = Bytes();
  return same ? &bytes_ : nullptr;
}

bool KeptLaunch::may_keep(const LaunchSpec& launch, ByteView bytes) noexcept {
  return launch.commit.empty() && launch.report_number >= 0 && bytes.size() <= kMaxKeptBytes;
}

void KeptLaunch::keep(LaunchSpec launch, Bytes bytes) noexcept {
  launch_ = std::move(launch);
  bytes_ = std::move(bytes);
}

void KeptLaunch::forget() noexcept {
  launch_ = LaunchSpec();
  bytes_ = Bytes();
}

}  // namespace loom::boundary
