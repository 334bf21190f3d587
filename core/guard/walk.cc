#include "guard/walk.h"

#include <utility>

namespace loom::guard {

WalkResult<Landing> walk(std::string_view path, WalkOptions options, const WalkCalls& calls) {
  PathWalk steps(options, calls);
  LOOM_TRY_VOID(steps.run(path));
  return Landing::make(path, std::move(steps));
}

}  // namespace loom::guard
