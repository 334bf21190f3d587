#include "host/mount_point_file.h"

namespace loom::host {

// No launcher of another system mounts anything.
timespec file_time_now() noexcept { return {}; }

bool remove_mount_point_file(const AbsolutePath&, const timespec&,
                             const std::optional<timespec>&) noexcept {
  return false;
}

}  // namespace loom::host
