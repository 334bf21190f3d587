#include "host/own_mounts.h"

namespace loom::host {

Result<const ReachableMounts*> OwnMounts::now() {
  return fail(ErrorCode::kUnsupported,
              "whether a mount shows a path a second time cannot be seen on this system");
}

}  // namespace loom::host
