#include "host/file_flags.h"

#include <sys/attr.h>
#include <unistd.h>

#include <cstdint>

namespace loom::host {

// By name, as a file of mode 0 could not be opened for it, nor its mode changed while it has the
// flag.
void clear_file_flags(int directory, const char* name) noexcept {
  attrlist wanted{};
  wanted.bitmapcount = ATTR_BIT_MAP_COUNT;
  wanted.commonattr = ATTR_CMN_FLAGS;
  std::uint32_t none = 0;
  ::setattrlistat(directory, name, &wanted, &none, sizeof none, FSOPT_NOFOLLOW);
}

}  // namespace loom::host
