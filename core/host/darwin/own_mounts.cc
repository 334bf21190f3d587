#include "host/own_mounts.h"

namespace loom::host {

// macOS mounts no directory a second time under another name: there are no bind mounts, and no
// mount of the system's shows an object again that has another name.
Result<const ReachableMounts*> OwnMounts::now() {
  if (!mounts_) mounts_.emplace(std::vector<MountRow>());
  return &*mounts_;
}

}  // namespace loom::host
