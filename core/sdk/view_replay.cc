#include <loom/view_replay.h>

#include <algorithm>

namespace loom {

ViewReplay::ViewReplay(const std::vector<MountOperation>& view) : view_(&view) {
  last_at_.reserve(view.size());
  for (std::size_t i = 0; i < view.size(); ++i) last_at_[view[i].region.str()] = i;
}

const MountOperation* ViewReplay::effective(std::string_view path) const {
  std::size_t last = 0;
  bool covered = false;
  for (std::string_view at = path; !at.empty();) {
    if (const auto found = last_at_.find(at); found != last_at_.end()) {
      last = std::max(last, found->second);
      covered = true;
    }
    if (at.size() == 1) break;
    at = at.substr(0, std::max<std::size_t>(at.rfind('/'), 1));
  }
  return covered ? &(*view_)[last] : nullptr;
}

bool is_writable(MountClass mount_class) noexcept {
  return is_host_writable(mount_class) || mount_class == MountClass::kScratchTmpfs ||
         mount_class == MountClass::kRootTmpfs;
}

bool is_masked(MountClass mount_class) noexcept { return !is_host_backed(mount_class); }

bool is_host_writable(MountClass mount_class) noexcept {
  return mount_class == MountClass::kWritable || mount_class == MountClass::kMountReadWrite ||
         mount_class == MountClass::kPin;
}

bool is_host_backed(MountClass mount_class) noexcept {
  switch (mount_class) {
    case MountClass::kExecShown:
    case MountClass::kReadable:
    case MountClass::kWritable:
    case MountClass::kMountReadWrite:
    case MountClass::kMountReadOnly:
    case MountClass::kPin:
      return true;
    case MountClass::kRootTmpfs:
    case MountClass::kScratchTmpfs:
    case MountClass::kProc:
    case MountClass::kDev:
    case MountClass::kProtected:
      return false;
  }
  return false;
}

}  // namespace loom
