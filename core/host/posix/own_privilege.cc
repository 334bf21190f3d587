#include "host/own_privilege.h"

#include <unistd.h>

namespace loom::host {

// issetugid(2) also remembers ids that were given back since.
bool has_more_privilege_than_caller() noexcept {
#if defined(__linux__)
  constexpr bool tainted = false;
#else
  const bool tainted = ::issetugid() != 0;
#endif
  return tainted || ::geteuid() != ::getuid() || ::getegid() != ::getgid();
}

}  // namespace loom::host
