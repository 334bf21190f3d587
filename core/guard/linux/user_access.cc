#include "guard/user_access.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace loom::guard {

bool user_may(int handle, int mode) noexcept {
  if (::faccessat(handle, "", mode, AT_EACCESS | AT_EMPTY_PATH) == 0) return true;
  // Before Linux 5.8, or by a container's filter, there is no faccessat2(2).
  if (errno != EINVAL && errno != ENOSYS && errno != EPERM) return false;
  const std::string name = "/proc/self/fd/" + std::to_string(handle);
  return ::faccessat(AT_FDCWD, name.c_str(), mode, AT_EACCESS) == 0;
}

}  // namespace loom::guard
