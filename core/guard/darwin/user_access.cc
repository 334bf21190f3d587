#include "guard/user_access.h"

#include <sys/attr.h>
#include <unistd.h>

#include <cstdint>

namespace loom::guard {

// The attribute says R_OK, W_OK and X_OK of the effective user, access control lists and read-only
// volumes included (getattrlist(2)). What is mounted noexec is asked about elsewhere.
bool user_may(int handle, int mode) noexcept {
  struct Answer {
    std::uint32_t size = 0;
    std::uint32_t access = 0;
  } answer;
  struct attrlist wanted {};
  wanted.bitmapcount = ATTR_BIT_MAP_COUNT;
  wanted.commonattr = ATTR_CMN_USERACCESS;
  if (::fgetattrlist(handle, &wanted, &answer, sizeof answer, 0) != 0) return false;
  const auto asked = static_cast<std::uint32_t>(mode);
  return answer.size == sizeof answer && (answer.access & asked) == asked;
}

}  // namespace loom::guard
