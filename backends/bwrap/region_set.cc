#include "region_set.h"

#include <algorithm>

namespace loom::bwrap {

bool RegionSet::covers(const AbsolutePath& path) const {
  for (std::string_view at = path.str(); !at.empty();) {
    if (regions_.contains(at)) return true;
    if (at.size() == 1) return false;
    at = at.substr(0, std::max<std::size_t>(at.rfind('/'), 1));
  }
  return false;
}

}  // namespace loom::bwrap
