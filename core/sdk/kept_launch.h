#pragma once

#include <loom/bytes.h>
#include <loom/launch.h>

namespace loom::boundary {

// The launch that was started last, with its bytes, for the next start, which is nearly always of
// the same: writing a large one takes long, and so does reading it.
//
// Nothing that a command is told is kept, which may be a secret: no launch with a commit, and none
// without an inner stage, whose argv and environment are the command's own. Nor one of more than
// 1 MiB.
class KeptLaunch {
 public:
  // Null when these are not its bytes.
  [[nodiscard]] const LaunchSpec* find(ByteView bytes) const noexcept;
  // Null when that is not it; its commit is not looked at.
  [[nodiscard]] const Bytes* find(const LaunchSpec& launch);

  [[nodiscard]] static bool may_keep(const LaunchSpec& launch, ByteView bytes) noexcept;
  // Only what may be kept.
  void keep(LaunchSpec launch, Bytes bytes) noexcept;
  void forget() noexcept;

 private:
  LaunchSpec launch_;
  Bytes bytes_;  // empty: there is none
};

}  // namespace loom::boundary
