#include "guard/open_without_links.h"

#include "guard/open_by_walk.h"

namespace loom::guard {

Opened open_without_links(const AbsolutePath& path, int flags) {
  return open_by_walk(path, flags, system_walk_calls());
}

}  // namespace loom::guard
