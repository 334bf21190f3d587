#include "host/own_executable.h"

namespace loom::host {

// No call for it is common to what is left when Linux and macOS have theirs.
Result<std::string> own_executable() {
  return fail(ErrorCode::kUnsupported,
              "find the own executable: this system is asked in no way that is known here");
}

}  // namespace loom::host
