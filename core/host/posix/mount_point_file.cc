#include "host/mount_point_file.h"

namespace loom::host {

// No launcher of another system mounts anything.
timespec earliest_birth_from_now() noexcept { return {}; }

timespec latest_birth_until_now() noexcept { return {}; }

bool remove_mount_point_file(const AbsolutePath&, const timespec&,
                             const std::optional<timespec>&) noexcept {
  return false;
}

}  // namespace loom::host
