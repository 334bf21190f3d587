#include "guard/open_by_walk.h"

#include <fcntl.h>

#include <cerrno>
#include <utility>

#include "guard/path_walk.h"

namespace loom::guard {

Opened open_by_walk(const AbsolutePath& path, int flags, const WalkCalls& calls) {
  const bool directory = (flags & O_DIRECTORY) != 0;
  PathWalk walk({.leaf = LeafMode::kResolve, .refuse_links = true, .enter_automounts = directory},
                calls);
  const auto landed = walk.run(path.str());
  if (!landed) return Opened{.error = landed.error().sys_errno};
  if (walk.landed_on_directory()) {
    UniqueFd handle = std::move(walk.stack().back().handle);
    const int error = handle ? 0 : EACCES;
    return Opened{.handle = std::move(handle), .error = error};
  }
  if (!walk.landed_on_object()) return Opened{.error = ENOENT};
  if (directory) return Opened{.error = ENOTDIR};
  const int error = walk.object() ? 0 : EACCES;
  return Opened{.handle = std::move(walk.object()), .error = error};
}

}  // namespace loom::guard
