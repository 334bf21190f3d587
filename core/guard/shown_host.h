#pragma once

#include <loom/plan.h>
#include <loom/view_replay.h>

#include <memory>
#include <vector>

#include "law/evidence.h"

namespace loom::guard {

enum class Access : std::uint8_t { kRead, kWrite };

// What a view shows of the host before anything is protected: masks are the law's to judge. An
// operation that found nothing to show when the view was planned is not in it, because it mounts
// nothing.
class ShownHost {
 public:
  explicit ShownHost(const std::vector<MountOperation>& view);

  // The operation that decides what is at the path; null where nothing of the view is.
  [[nodiscard]] const MountOperation* effective(const AbsolutePath& path) const {
    return replay_.effective(path);
  }
  // Why the operation does not let something have this access; nothing where it does.
  [[nodiscard]] static std::optional<law::Reason> refusal_of(const MountOperation* operation,
                                                             Access access) noexcept;

  // Whether the command can change what the host has at the path, or any directory above it.
  [[nodiscard]] bool is_written_at(const AbsolutePath& path) const;
  // Whether it is the object that such an operation shows.
  [[nodiscard]] bool is_written_root(const FileIdentity& identity) const;

  [[nodiscard]] const std::vector<MountOperation>& operations() const noexcept {
    return *operations_;
  }

 private:
  std::unique_ptr<const std::vector<MountOperation>> operations_;  // at one address for replay_
  ViewReplay replay_;
};

// Whether an operation mounts nothing, because its object was absent when the view was planned.
[[nodiscard]] bool mounts_nothing(const MountOperation& operation) noexcept;

}  // namespace loom::guard
