#pragma once

#include <loom/plan.h>

#include <string_view>
#include <unordered_map>
#include <vector>

namespace loom {

// Answers what a view really shows at a path: the last operation whose region is the path or above
// it. Borrows the view.
class ViewReplay {
 public:
  explicit ViewReplay(const std::vector<MountOperation>& view);

  // Null when no operation covers the path. `path` is lexically clean.
  [[nodiscard]] const MountOperation* effective(std::string_view path) const;
  [[nodiscard]] const MountOperation* effective(const AbsolutePath& path) const {
    return effective(path.str());
  }

 private:
  const std::vector<MountOperation>* view_;
  std::unordered_map<std::string_view, std::size_t> last_at_;  // region -> its last operation
};

// Whether something can be written there: writable root, scratch, read-write mount, the jail's root
// while it is being built.
[[nodiscard]] bool is_writable(MountClass mount_class) noexcept;
// Whether what the host has there is out of sight.
[[nodiscard]] bool is_masked(MountClass mount_class) noexcept;
// Whether the command can change what the host has there.
[[nodiscard]] bool is_host_writable(MountClass mount_class) noexcept;
// Whether the host's own objects are seen there.
[[nodiscard]] bool is_host_backed(MountClass mount_class) noexcept;

}  // namespace loom
