#include "host/own_privilege.h"

#include <sys/auxv.h>
#include <unistd.h>

namespace loom::host {

bool has_more_privilege_than_caller() noexcept {
  return ::getauxval(AT_SECURE) != 0 || ::geteuid() != ::getuid() || ::getegid() != ::getgid();
}

}  // namespace loom::host
