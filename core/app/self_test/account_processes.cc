#include "app/self_test/account_processes.h"

namespace loom::app {

Result<std::uint64_t> count_account_processes() {
  return fail(ErrorCode::kUnsupported, "the account's processes are not counted on this system");
}

}  // namespace loom::app
