#pragma once

#include <loom/absolute_path.h>
#include <loom/unique_fd.h>

#include <cstdint>
#include <optional>
#include <utility>

namespace loom::host {

// The file tree of another process, looked at from outside.
class ForeignRoot {
 public:
  // Of `pid`, which cannot end meanwhile (it waits for us). Nothing where we may not see it.
  [[nodiscard]] static std::optional<ForeignRoot> open(int pid);
  // The number of the mount that begins at `path` there, as in its mount table (MountRow::id); of
  // several, the uppermost. Does not wait for any file system. Nothing where no mount begins there,
  // and where that is not told: with a link on the way, for a name that was not looked at lately,
  // and by kernels before 5.12 (RESOLVE_CACHED; STATX_MNT_ID is of 5.8).
  [[nodiscard]] std::optional<std::uint64_t> mount_at(const AbsolutePath& path) const;

 private:
  explicit ForeignRoot(UniqueFd root) : root_(std::move(root)) {}
  UniqueFd root_;
};

}  // namespace loom::host
